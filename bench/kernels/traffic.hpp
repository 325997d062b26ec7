// Triads, copies and similar passes: the fastest reads and writes of arrays on this machine.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/core/numbers/scalar.hpp"

namespace wane::bench {

// One pass over arrays of `bytes` bytes each: y = (a s + b) s + c, as many as there are.
// 1 read and 1 write are a copy, 2 and 1 the triad; 3 and 2 is the traffic of an adjoint.
struct traffic {
  std::vector<void const*> reads;
  std::vector<void*> writes;
  index bytes = 0;
  int threads = 1;

  double total_bytes() const {
    return static_cast<double>(bytes) * static_cast<double>(reads.size() + writes.size());
  }
};

// How it is done: with stores past the caches or without, asking for lines ahead or not.
struct manner {
  bool stream, prefetch;
  char const* name;
};
inline constexpr manner manners[] = {{false, false, "plain"},
                                     {false, true, "plain+prefetch"},
                                     {true, false, "non-temporal"},
                                     {true, true, "non-temporal+prefetch"}};

void carry_out(traffic const& what, manner how);

}  // namespace wane::bench
