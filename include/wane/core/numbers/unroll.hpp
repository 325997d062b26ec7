// unroll<N>(body): calls body(0) ... body(N - 1) without a loop, so that arrays become registers.
// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "wane/core/config.hpp"

namespace wane::impl {

//   unroll<4>([&](auto n) { sum[n] = multiply_add(a[n], b, sum[n]); });
// n is a std::integral_constant<int, n>.
template <int N, class Body>
WANE_INLINE void unroll(Body&& body) {
  [&]<int... n>(std::integer_sequence<int, n...>) WANE_INLINE_LAMBDA {
    (body(std::integral_constant<int, n>{}), ...);
  }
  (std::make_integer_sequence<int, N>{});
}

}  // namespace wane::impl
