// Where a token and its channels stand: one of each, or as many as a vector holds.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/scalar.hpp"

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

// Lanes that a group of columns fills.
template <int W>
constexpr int lane_count(lanes<W>) {
  return W;
}
template <int W>
constexpr int lane_count(partial_lanes<W> columns) {
  return columns.count;
}

// W / C tokens with C neighbouring channels each: lane l is channel l mod C of token
// first + direction * (l / C). Read together with the columns of those channels.
template <int W, int C>
struct time_lanes {
  static constexpr int width = W;
  static constexpr int channels = C;
  index first;
  int direction = 1;
};
template <int C>
struct time_columns {
  index first;
};

// A token: its sequence in the batch, its time in the tensors, its head, and its position, which
// counts from 1 at the start of a sequence, over all the pieces that a carried state has seen.
// With time_lanes the position is that of the first token; it rises by one from token to token.
template <class Time = index>
struct place {
  index batch;
  Time time;
  index head;
  index position = 1;
};

}  // namespace wane
