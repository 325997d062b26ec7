// in_series: whether few channels share vectors that hold several tokens of each.
// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "wane/core/recurrence/recurrence.hpp"

namespace wane::impl {

// Calls body(the number C of channels that share a vector) and returns true if the tensors of the
// operator, and others that lie like `others`, are read so; otherwise returns false.
template <class Op, class Body>
bool in_series(Op const& op, layout const& others, Body const& body) {
  if constexpr (reads_tokens<Op>) {
    constexpr int width = simd_width<accumulate_type<Op>>;
    recurrence_shape const shape = op.shape();
    layout const lies = layout_of(op) & others;
    if (shape.time < 4 * width) return false;
    index const channels = lies.tokens && shape.columns < width ? shape.columns : lies.series;
    auto const with = [&]<int C>(std::integral_constant<int, C> number) {
      if constexpr (C < width)
        if (channels == C) return body(number), true;
      return false;
    };
    return with(std::integral_constant<int, 1>{}) || with(std::integral_constant<int, 2>{}) ||
           with(std::integral_constant<int, 4>{}) || with(std::integral_constant<int, 8>{});
  }
  return false;
}

}  // namespace wane::impl
