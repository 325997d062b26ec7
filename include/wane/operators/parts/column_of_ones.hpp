// A column of ones behind the values of a memory, whose sum is the denominator of a mean.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/recurrence.hpp"

namespace wane::impl {

// The lanes of j that lie before `end`.
template <class Columns>
WANE_INLINE partial_lanes<Columns::width> columns_before(index end, Columns j) {
  return {j.first, static_cast<int>(at_most(index{lane_count(j)}, end - j.first))};
}

// value(j) in the columns before `of_ones`, and 1 in column `of_ones`, which is the last.
template <class T>
WANE_INLINE auto value_or_one(index of_ones, auto j, auto const& value) {
  if constexpr (std::integral<decltype(j)>) {
    return j < of_ones ? value(j) : T(1);
  } else {
    if (j.first + lane_count(j) <= of_ones) return value(j);
    auto row = value(columns_before(of_ones, j));
    row.v[of_ones - j.first] = T(1);
    return row;
  }
}

// Writes g into the columns of `to`; drops the gradient of the column of ones.
template <class T>
WANE_INLINE void write_before_ones(sequence_view<T> const& to, place<> where, auto j, auto g) {
  index const of_ones = to.extent[3];
  if constexpr (!std::integral<decltype(j)>)
    to.write(where, columns_before(of_ones, j), g);
  else if (j < of_ones)
    to.write(where, j, g);
}

}  // namespace wane::impl
