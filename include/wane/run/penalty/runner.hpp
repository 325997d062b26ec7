// The runner of penalised memories (VLA): write directions first, then S with them.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/penalty/adjoint.hpp"
#include "wane/run/penalty/run.hpp"
#include "wane/run/penalty/step.hpp"

namespace wane::impl::runners {

struct penalty {
  static constexpr std::string_view name = "penalty";
  static constexpr int cost = 8;
  template <class Op, class Out>
  static constexpr bool takes = penalised_memory<Op>;

  static void run(auto const& op, auto const& output, auto const& options) {
    run_penalised(op, output, options);
  }
  static void step(auto const& op, walk const& w, auto const& output, auto const& state) {
    step_in_order(op, w, output, state);
  }
  static void adjoint(auto const& op, auto const& dy, auto const& to, auto const& options) {
    adjoint_penalised(op, dy, to, options);
  }
};

}  // namespace wane::impl::runners
