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

// Calls body(0) ... body(count - 1), in an unrolled loop where `unrolled`.
template <bool unrolled, int count, class Body>
WANE_INLINE void unroll_if(Body const& body) {
  if constexpr (unrolled) {
    unroll<count>(body);
  } else {
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (int n = 0; n < count; ++n) body(n);
  }
}

}  // namespace wane::impl
