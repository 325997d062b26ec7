// A contest: our kernel, the loops it is compared with, the work they do, and the oracle's verdict.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "kernels/traffic.hpp"

namespace wane::bench {

struct rival {
  std::string counter;
  std::function<void()> run;
  // A loop that gives the same answer counts as its time over ours. Otherwise it is our kernel on
  // other data, and our time over that is counted.
  bool is_loop = true;
};

struct contest {
  std::function<void()> ours;
  std::vector<rival> rivals;
  // ours() is a pass of passes.hpp, which can name its runner.
  bool by_runners = true;
  // What must move; the reference moves as much in the same memory. Without reads there is none.
  traffic moved;
  // Where there are none, they are what `moved` writes.
  std::vector<std::span<float>> outputs = {};
  double tokens = 0, flops = 0;
  bool in_double = false;
  // Arithmetic in double; inputs and outputs may be float. The peak is then double's.
  bool computes_in_double = false;
  // Largest difference from the oracle over the largest value of the oracle, in the outputs as
  // they are now.
  std::function<double()> error;
};

// The counters of a row. Throws std::runtime_error, and times nothing, when ours or a rival is
// further from the oracle than rounding explains.
std::map<std::string, double> held(contest const& what);

}  // namespace wane::bench
