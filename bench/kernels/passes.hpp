// The passes that a row times; in a first call they name their runner and run nothing.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"
#include "wane/run/runner_name.hpp"

namespace wane::bench {

// Where set, a pass writes the name of its runner there in place of running.
inline std::string* name_of_runner = nullptr;

template <class... Call>
void timed_run(Call const&... call) {
  if (name_of_runner)
    *name_of_runner = runner_name(call...);
  else
    run(call...);
}
template <class... Call>
void timed_step(Call const&... call) {
  if (name_of_runner)
    *name_of_runner = runner_name(call...);
  else
    step(call...);
}
template <class... Call>
void timed_adjoint(Call const&... call) {
  if (name_of_runner)
    *name_of_runner = runner_name(call...);
  else
    adjoint(call...);
}

}  // namespace wane::bench
