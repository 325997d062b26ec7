// A group of columns that are computed together: one, or one in each lane of a vector.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/recurrence/place.hpp"

namespace wane::impl {

// The columns that one V holds.
template <class V>
struct columns_of {
  using type = index;
  static constexpr int width = 1;
};
template <class T, int W>
struct columns_of<simd<T, W>> {
  using type = lanes<W>;
  static constexpr int width = W;
};

// Calls body(j, lane) for each of some columns.
template <class Columns, class Body>
void for_each_column(Columns columns, Body const& body) {
  if constexpr (std::is_same_v<Columns, index>)
    body(columns, 0);
  else
    for (int l = 0; l < lane_count(columns); ++l) body(columns.first + l, l);
}
}  // namespace wane::impl
