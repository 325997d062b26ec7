// channel_parameter: a parameter with a number for each head and channel, [H, V], or none.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/checks.hpp"

namespace wane::impl {

// Holds [H, V] as a tensor of one token, so that channels are read in lanes.
template <class T>
class channel_parameter {
 public:
  channel_parameter(view<T const, 2> const& x)
      : x_{x.data, {1, 1, x.extent[0], x.extent[1]}, {0, 0, x.stride[0], x.stride[1]}} {}

  WANE_INLINE bool present() const { return x_.data != nullptr; }
  // Throws wane::error when it is present and does not fit.
  void check(char const* name, recurrence_shape const& shape) const {
    if (!present()) return;
    check_extent(name, "heads", x_.extent[2], shape.heads);
    check_extent(name, "columns", x_.extent[3], shape.columns);
  }
  wane::layout layout() const { return layout_of(x_); }
  template <class Accumulate>
  WANE_INLINE auto read(index head, auto j) const {
    return convert<Accumulate>(x_.read({0, 0, head}, j));
  }

 private:
  sequence_view<T const> x_;
};

}  // namespace wane::impl
