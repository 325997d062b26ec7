// Scenarios of the self-test: shapes, timescales and options of a run, for any operator.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/core/numbers/scalar.hpp"

namespace wane::selftest {

enum class form { log, factor, bank, delta, vla };

// Of memories with keys.
constexpr bool is_memory(form what) { return what == form::delta || what == form::vla; }

struct scenario {
  char const* name;
  index batch, time, heads, columns;
  double memory = 100;  // tokens after which most is forgotten
  bool reverse = false;
  bool resets = false;             // some decays are exactly 0, where they are given token by token
  bool carried = false;            // from a state and into one
  std::vector<index> starts = {};  // of packed sequences

  index sequences() const { return starts.empty() ? batch : static_cast<index>(starts.size()) - 1; }
};

inline std::vector<scenario> scenarios() {
  return {
      {.name = "one channel", .batch = 1, .time = 1 << 20, .heads = 1, .columns = 1},
      {.name = "16384 channels", .batch = 16, .time = 200, .heads = 16, .columns = 64},
      {.name = "reverse, resets",
       .batch = 2,
       .time = 5000,
       .heads = 3,
       .columns = 37,
       .reverse = true,
       .resets = true},
      {.name = "carried state",
       .batch = 3,
       .time = 3000,
       .heads = 2,
       .columns = 20,
       .memory = 1000,
       .carried = true},
      {.name = "packed",
       .batch = 1,
       .time = 6000,
       .heads = 2,
       .columns = 5,
       .memory = 1000,
       .carried = true,
       .starts = {0, 17, 17, 2100, 2101, 6000}},
      {.name = "slow decays", .batch = 1, .time = 1 << 18, .heads = 1, .columns = 3, .memory = 1e6},
      {.name = "one step", .batch = 64, .time = 1, .heads = 8, .columns = 64, .carried = true}};
}

// Memories with keys in all their ways: in chunks, in segments, and one token.
inline std::vector<scenario> memory_scenarios() {
  return {{.name = "one head", .batch = 1, .time = 1 << 14, .heads = 1, .columns = 64},
          {.name = "64 heads", .batch = 4, .time = 500, .heads = 16, .columns = 64},
          {.name = "reverse, resets",
           .batch = 2,
           .time = 1000,
           .heads = 3,
           .columns = 37,
           .reverse = true,
           .resets = true},
          {.name = "carried state",
           .batch = 3,
           .time = 1000,
           .heads = 2,
           .columns = 20,
           .memory = 1000,
           .carried = true},
          {.name = "packed",
           .batch = 1,
           .time = 3000,
           .heads = 2,
           .columns = 5,
           .carried = true,
           .starts = {0, 17, 17, 2100, 2101, 3000}},
          {.name = "one step", .batch = 64, .time = 1, .heads = 8, .columns = 64, .carried = true}};
}

}  // namespace wane::selftest
