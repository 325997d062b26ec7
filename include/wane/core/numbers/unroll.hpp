// unroll<N>(body): calls body(0) ... body(N - 1) without a loop, so that arrays become registers.
// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "wane/core/config.hpp"

namespace wane::impl {

//   unroll<4>([&](auto n) { sum[n] = multiply_add(a[n], b, sum[n]); });
// n is a std::integral_constant<int, n>. Calls are written out, because a pack of them would need a
// second function for each body, and there are many bodies.
template <int N, int First = 0, class Body>
WANE_INLINE void unroll(Body&& body) {
  if constexpr (First < N) body(std::integral_constant<int, First>{});
  if constexpr (First + 1 < N) body(std::integral_constant<int, First + 1>{});
  if constexpr (First + 2 < N) body(std::integral_constant<int, First + 2>{});
  if constexpr (First + 3 < N) body(std::integral_constant<int, First + 3>{});
  if constexpr (First + 4 < N) unroll<N, First + 4>(body);
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
