// Lanes of a simd: shuffles, comparisons, sums, partial loads and stores, streaming stores.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/simd.hpp"

namespace wane::impl {

// Lane l of the result is element From{}(l) of the 2 W numbers x, y. The order is constant.
template <class From, class T, int W>
WANE_HOST_INLINE simd<T, W> shuffle(simd<T, W> x, simd<T, W> y, From) {
#ifdef __clang__
  return [&]<int... L>(std::integer_sequence<int, L...>)->simd<T, W> {
    return __builtin_shufflevector(x.v, y.v, From{}(L)...);
  }
  (std::make_integer_sequence<int, W>{});
#else
  using lane = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  typename simd<lane, W>::vector lanes{};
  for (int l = 0; l < W; ++l) lanes[l] = From{}(l);
  return __builtin_shuffle(x.v, y.v, lanes);
#endif
}

// Lane l of the result is lane l - N of x. The first N lanes are the last N lanes of `before`.
template <int N, class T, int W>
WANE_HOST_INLINE simd<T, W> shift_up(simd<T, W> x, simd<T, W> before) {
#if defined(__AVX512F__) && !defined(__CUDA_ARCH__)
  if constexpr (W * sizeof(T) == 64) {  // valignr overwrites no operand; vpermt2 does
    using vector = typename simd<T, W>::vector;
    auto const high = __builtin_bit_cast(__m512i, x.v), low = __builtin_bit_cast(__m512i, before.v);
    if constexpr (sizeof(T) == 4)
      return __builtin_bit_cast(vector, _mm512_maskz_alignr_epi32(0xffff, high, low, W - N));
    else
      return __builtin_bit_cast(vector, _mm512_maskz_alignr_epi64(0xff, high, low, W - N));
  }
#endif
  return shuffle(
      before, x, [](int l) constexpr { return W - N + l; });
}

// The last N lanes of x, repeated.
template <int N, class T, int W>
WANE_HOST_INLINE simd<T, W> repeat_last(simd<T, W> x) {
  return shuffle(
      x, x, [](int l) constexpr { return W - N + l % N; });
}

// Groups of N lanes in reverse order. The order within a group is kept.
template <int N, class T, int W>
WANE_HOST_INLINE simd<T, W> reverse_groups(simd<T, W> x) {
  return shuffle(
      x, x, [](int l) constexpr { return W - N - l / N * N + l % N; });
}

// The even groups (Odd = 0) or the odd groups (Odd = 1) of N lanes of x, and then those of y.
template <int N, int Odd, class T, int W>
WANE_HOST_INLINE simd<T, W> every_other(simd<T, W> x, simd<T, W> y) {
  return shuffle(
      x, y, [](int l) constexpr { return (2 * (l / N) + Odd) * N + l % N; });
}

// Bit l is set where lane l of x is less than lane l of bound.
template <class T, int W>
WANE_HOST_INLINE unsigned lanes_below(simd<T, W> x, simd<T, W> bound) {
#if defined(__AVX512F__) && !defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float> && W == 16)
    return _mm512_cmp_ps_mask(x.v, bound.v, _CMP_LT_OQ);
  if constexpr (std::is_same_v<T, double> && W == 8)
    return _mm512_cmp_pd_mask(x.v, bound.v, _CMP_LT_OQ);
#endif
  unsigned below = 0;
  for (int lane = 0; lane < W; ++lane) below |= (x[lane] < bound[lane] ? 1u : 0u) << lane;
  return below;
}
template <class T, int W>
WANE_HOST_INLINE bool all_below(simd<T, W> x, simd<T, W> bound) {
  return lanes_below(x, bound) == (1u << W) - 1u;
}

template <class T, int W>
WANE_HOST_INLINE bool all_finite(simd<T, W> x) {
  return all_below(x - x, simd<T, W>(T(1)));  // inf - inf is NaN
}

// The first `count` numbers at p, and zero in the other lanes. No other memory is read.
template <class T, int W>
WANE_HOST_INLINE simd<T, W> load_first(T const* p, int count) {
#if defined(__AVX512F__) && !defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float> && W == 16)
    return simd<T, W>(_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1u), p));
  if constexpr (std::is_same_v<T, double> && W == 8)
    return simd<T, W>(_mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1u), p));
#endif
  simd<T, W> x(T(0));
  for (int lane = 0; lane < W && lane < count; ++lane) x.v[lane] = p[lane];
  return x;
}

// Whether the `count` numbers at x are finite.
template <class T>
bool all_finite(T const* x, index count) {
  constexpr int width = simd_width<T>;
  using vector = simd<T, width>;
  if (count < width) return all_finite(load_first<T, width>(x, static_cast<int>(count)));
  vector sum[4];  // of differences that are 0 or NaN
  auto const add = [&](T const* from, int to) WANE_INLINE_LAMBDA {
    vector const y = vector::load(from);
    sum[to] += y - y;
  };
  for (auto& one : sum) one = vector(T(0));
  add(x, 0), add(x + count - width, 1);
  // Aligned vectors between these two, which may overlap them.
  index i = static_cast<index>((simd_bytes - reinterpret_cast<std::uintptr_t>(x) % simd_bytes) /
                               sizeof(T));
  for (; i + 4 * width <= count; i += 4 * width)
    for (int n = 0; n < 4; ++n) add(x + i + n * width, n);
  for (; i + width <= count; i += width) add(x + i, 0);
  return all_finite((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

// The sum of all lanes: halves are added until one lane is left.
template <class T, int W, int Count = W>
WANE_HOST_INLINE T sum(simd<T, W> x) {
  if constexpr (Count > 1)
    return sum<T, W, Count / 2>(x + shuffle(
                                        x, x, [](int l) constexpr { return (l + Count / 2) % W; }));
  return x[0];
}

// Lane l of the result is the sum of the lanes of x[l].
template <class T, int W, int Count = W>
WANE_HOST_INLINE simd<T, W> sums(simd<T, W> const* x) {
  if constexpr (Count > 1) {
    simd<T, W> const a = sums<T, W, Count / 2>(x), b = sums<T, W, Count / 2>(x + Count / 2);
    return every_other<1, 0>(a, b) + every_other<1, 1>(a, b);
  }
  return *x;
}

template <class T, int W>
WANE_HOST_INLINE void store_first(T* p, int count, simd<T, W> x) {
#if defined(__AVX512F__) && !defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float> && W == 16)
    return _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << count) - 1u), x.v);
  if constexpr (std::is_same_v<T, double> && W == 8)
    return _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1u << count) - 1u), x.v);
#endif
  for (int lane = 0; lane < count; ++lane) p[lane] = x[lane];
}

// A store that bypasses the caches. p is aligned to the size of x. Call stream_fence() after the
// last of these stores, so that other threads see them.
template <class T, int W>
WANE_HOST_INLINE void stream(T* p, simd<T, W> x) {
#if defined(__x86_64__) && !defined(__CUDA_ARCH__)
  constexpr auto bytes = W * sizeof(T);
#if defined(__AVX512F__)
  if constexpr (bytes == 64)
    return _mm512_stream_si512(reinterpret_cast<__m512i*>(p), __builtin_bit_cast(__m512i, x.v));
#endif
#if defined(__AVX__)
  if constexpr (bytes == 32)
    return _mm256_stream_si256(reinterpret_cast<__m256i*>(p), __builtin_bit_cast(__m256i, x.v));
#endif
  if constexpr (bytes == 16)
    return _mm_stream_si128(reinterpret_cast<__m128i*>(p), __builtin_bit_cast(__m128i, x.v));
#endif
  x.store(p);
}

inline void stream_fence() {
#if defined(__x86_64__) && !defined(__CUDA_ARCH__)
  _mm_sfence();
#endif
}

// Adds the lanes of x, or x, to the numbers at `to`.
template <class A, class V>
void add_lanes(A* to, V const& x) {
  if constexpr (is_simd<V>) {
    typename V::scalar lanes[V::width];
    x.store(lanes);
    for (int l = 0; l < V::width; ++l) to[l] += A(lanes[l]);
  } else {
    *to += A(x);
  }
}

}  // namespace wane::impl
