// row_products: dot products of M rows with N rows.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "wane/core/numbers/simd.hpp"
#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/numbers/unroll.hpp"
#include "wane/core/recurrence/view.hpp"

namespace wane::impl {

// to[m N + n] = a_m . b_n, for M rows a and N rows b. `columns` is a multiple of the vector width.
template <int M, int N, class T>
WANE_HOST_INLINE void row_products(T const* a, index a_stride, T const* b, index b_stride,
                                   index columns, T* to) {
  using vector = simd<T, simd_width<T>>;
  constexpr int width = vector::width, padded = (M * N + width - 1) / width * width;
  vector sum[padded] = {};
  for (index j = 0; j < columns; j += width) {
    vector own[N];
    unroll<N>([&](auto n) WANE_INLINE_LAMBDA { own[n] = vector::load(b + n * b_stride + j); });
    unroll<M>([&](auto m) WANE_INLINE_LAMBDA {
      vector const row = vector::load(a + m * a_stride + j);
      unroll<N>([&](auto n) WANE_INLINE_LAMBDA {
        sum[m * N + n] = multiply_add(row, own[n], sum[m * N + n]);
      });
    });
  }
  T totals[padded];
  for (int n = 0; n < padded; n += width) sums(sum + n).store(totals + n);
  std::copy_n(totals, M * N, to);
}

}  // namespace wane::impl
