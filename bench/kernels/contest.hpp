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
  // A loop computes the same answer; its counter is its time over ours. A rival that is no loop is
  // our kernel on other data, or a part of the work; its counter is our time over its time.
  bool is_loop = true;
};

struct contest {
  std::function<void()> ours;
  std::vector<rival> rivals;
  // ours() is a pass of passes.hpp, which can name its runner.
  bool by_runners = true;
  // The bytes that must move. The reference moves as many in the same memory. Without `reads` there
  // is no reference.
  traffic moved;
  // The outputs of the contest. Where the list is empty, they are the arrays that `moved` writes.
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
