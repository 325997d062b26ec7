// The columns of a state in panels: vectors side by side, the last filled up with zeros.
// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "wane/core/recurrence.hpp"

namespace wane {

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
    for (; j + strip <= end; j += strip) body(j, std::integral_constant<int, Widest>{});
    for (; j < end; j += width) body(j, std::integral_constant<int, 1>{});
  }

  // What read(columns) gives of a token; zeros where none is present and behind the last column.
  template <bool Lanes, class Read>
  void load(T* to, bool present, Read const& read) const {
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
};

}  // namespace wane
