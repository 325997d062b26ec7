// panel_columns: the columns of a state in panels of vectors, the last one padded with zeros.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <type_traits>

#include "wane/core/recurrence/recurrence.hpp"

namespace wane::impl {

// Rows of a state are so far apart: an odd number of vectors, so that they do not fall on the same
// lines of a cache.
template <class T>
index row_stride_of(index columns) {
  return ((columns + simd_width<T> - 1) / simd_width<T> | 1) * simd_width<T>;
}

// The columns [first, last) in panels of Widest vectors, and behind them of one.
template <class T, int Widest>
struct panel_columns {
  static constexpr int width = simd_width<T>;
  static constexpr index strip = Widest * width;

  index first, last;

  index count() const { return last - first; }
  index padded() const { return (count() + width - 1) / width * width; }
  index panels() const { return padded() / strip + padded() % strip / width; }

  // body(first column of a panel, from 0 on; its vectors)
  template <class Body>
  void for_panels(Body const& body) const {
    index j = 0, end = padded();
    if constexpr (Widest > 1)
      for (; j + strip <= end; j += strip) body(j, std::integral_constant<int, Widest>{});
    for (; j < end; j += width) body(j, std::integral_constant<int, 1>{});
  }

  // The same with the lanes of vector r of the panel, columns(r): partial ones where some columns
  // of the panel are not there. body(first column of a panel, its vectors, columns)
  template <class Body>
  WANE_HOST_INLINE void for_lanes(Body const& body) const {
    for_panels([&](index j, auto vectors) WANE_INLINE_LAMBDA {
      index const from = first + j, end = last;
      if (from + vectors * width <= end)
        return body(j, vectors, [&](int r) { return lanes<width>{from + r * width}; });
      body(j, vectors, [&](int r) {
        index const begin = from + r * width;
        return partial_lanes<width>{begin,
                                    static_cast<int>(std::clamp<index>(end - begin, 0, width))};
      });
    });
  }

  // What read(columns) gives of a token; zeros where none is present and behind the last column.
  template <bool Lanes, class Read>
  WANE_HOST_INLINE void load(T* to, bool present, Read const& read) const {
    index j = 0, end = present ? count() : 0;
    if constexpr (Lanes) {
      for (; j + width <= end; j += width) read(lanes<width>{first + j}).store(to + j);
      if (j < end) {
        read(partial_lanes<width>{first + j, static_cast<int>(end - j)}).store(to + j);
        j = end;
      }
    }
    for (; j < end; ++j) to[j] = read(first + j);
    for (end = padded(); j < end; ++j) to[j] = T(0);
  }
  // The same where each call decides; Lanes: whether columns can come in lanes at all.
  template <bool Lanes, class Read>
  WANE_HOST_INLINE void load(bool in_lanes, T* to, bool present, Read const& read) const {
    if constexpr (Lanes)
      if (in_lanes) return load<true>(to, present, read);
    load<false>(to, present, read);
  }
};

}  // namespace wane::impl
