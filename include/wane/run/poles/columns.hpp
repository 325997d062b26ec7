// read_columns, write_columns: some columns of a token, to a row of numbers and back.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/view.hpp"
#include "wane/run/shared/panel_columns.hpp"

namespace wane::impl {

// Whether the columns of a tensor are neighbours in memory. What is no tensor takes numbers.
bool in_lanes(auto const& tensor) {
  if constexpr (requires { layout_of(tensor); }) return layout_of(tensor).columns;
  return false;
}

// `lanes` says whether columns are neighbours.
template <class T, class In>
WANE_HOST_INLINE void read_columns(panel_columns<T, 1> const& columns,
                                   sequence_view<In> const& from, place<> at, bool lanes, T* to) {
  auto const read = [&](auto j) WANE_INLINE_LAMBDA { return convert<T>(from.read(at, j)); };
  lanes ? columns.template load<true>(to, true, read)
        : columns.template load<false>(to, true, read);
}
template <class T, class To>
WANE_HOST_INLINE void write_columns(panel_columns<T, 1> const& columns, To const& to, place<> at,
                                    bool lanes, T const* from) {
  if constexpr (requires { layout_of(to); })
    if (lanes)
      return columns.for_lanes([&](index j, auto, auto of) WANE_INLINE_LAMBDA {
        to.write(at, of(0), simd<T, simd_width<T>>::load(from + j));
      });
  for (index j = 0; j < columns.count(); ++j) to.write(at, columns.first + j, from[j]);
}

}  // namespace wane::impl
