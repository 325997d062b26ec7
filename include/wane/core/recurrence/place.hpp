// Indices of tokens and columns: a single one, or as many as the lanes of a vector.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/scalar.hpp"

namespace wane {

// The W columns from `first` on, one in each lane.
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

// The number of lanes that hold columns.
template <int W>
constexpr int lane_count(lanes<W>) {
  return W;
}
template <int W>
constexpr int lane_count(partial_lanes<W> columns) {
  return columns.count;
}

// W / C tokens with C neighbouring channels each. Lane l is channel l mod C of the token at time
// first + direction * (l / C). time_columns says which channels these are.
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

// A token: its index in the batch, its time in the tensors, its head, and its position. The
// position counts from 1 at the start of a sequence, and goes on from the positions of an initial
// state. With time_lanes it is the position of the first token; each further token has one more.
// `sequence` is the index of the token's state: that of a packed sequence, otherwise `batch`.
template <class Time = index>
struct place {
  index batch = 0;
  Time time;
  index head;
  index position = 1;
  index sequence = batch;

  WANE_INLINE place with_head(index other) const {
    return {batch, time, other, position, sequence};
  }
};

}  // namespace wane
