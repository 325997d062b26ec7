// unroll<N>(body): body(0) ... body(N - 1) written out, so that arrays indexed there are registers.
// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "wane/core/config.hpp"

namespace wane::impl {

// `body` takes a std::integral_constant<int, n>.
template <int N, class Body>
WANE_INLINE void unroll(Body&& body) {
  [&]<int... n>(std::integer_sequence<int, n...>) WANE_INLINE_LAMBDA {
    (body(std::integral_constant<int, n>{}), ...);
  }
  (std::make_integer_sequence<int, N>{});
}

}  // namespace wane::impl
