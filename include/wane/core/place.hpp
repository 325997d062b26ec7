// Where a token and its channels stand: one of each, or as many as a vector holds.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/scalar.hpp"

namespace wane {

// W columns from `first` on.
template <int W>
struct lanes {
  static constexpr int width = W;
  index first;
};

// The `count` < W columns from `first` on; the other lanes hold zeros and are not stored.
template <int W>
struct partial_lanes {
  static constexpr int width = W;
  index first;
  int count;
};

// W / C tokens, each with its C channels: lane l is channel l mod C of token
// first + direction * (l / C). Read together with `every_column`.
template <int W, int C>
struct time_lanes {
  static constexpr int width = W;
  static constexpr int channels = C;
  index first;
  int direction = 1;
};
struct every_column {};

// A token: its sequence in the batch, its time in the tensors, its head, and `origin`, the
// position of time 0 minus 1. Positions count from 1 at the start of a sequence, over all the
// pieces a carried state has seen.
template <class Time = index>
struct place {
  index batch;
  Time time;
  index head;
  index origin = 0;

  WANE_HOST_DEVICE index position() const requires std::is_same_v<Time, index> {
    return origin + time + 1;
  }
};

}  // namespace wane
