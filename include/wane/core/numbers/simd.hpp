// simd<T, W>: a vector of W numbers with elementwise arithmetic.
// SPDX-License-Identifier: MIT
#pragma once

// <immintrin.h> takes a quarter of a second to compile, <emmintrin.h> nearly no time.
#if defined(__AVX__) && !defined(__CUDA_ARCH__)
#include <immintrin.h>
#elif defined(__x86_64__) && !defined(__CUDA_ARCH__)
#include <emmintrin.h>
#elif defined(__ARM_FEATURE_FMA) && !defined(__CUDA_ARCH__)
#include <arm_neon.h>
#endif
#include <cmath>
#include <concepts>
#include <type_traits>
#include <utility>

#include "wane/core/numbers/scalar.hpp"

namespace wane {

#if defined(__AVX512F__)
inline constexpr int simd_bytes = 64;
#elif defined(__AVX__)
inline constexpr int simd_bytes = 32;
#else
inline constexpr int simd_bytes = 16;
#endif

// The number of T in the widest vector of this build.
template <class T>
inline constexpr int simd_width = simd_bytes / static_cast<int>(sizeof(T));

template <class T, int W>
struct simd {
  static_assert(std::is_arithmetic_v<T> && W >= 2 && (W & (W - 1)) == 0);
  static constexpr int width = W;
  using scalar = T;
  typedef T vector __attribute__((vector_size(W * sizeof(T))));
  // Not may_alias: vectors alias their elements, and a store must not make the compiler read the
  // indices of a loop again.
  typedef T unaligned __attribute__((vector_size(W * sizeof(T)), aligned(alignof(T))));

  vector v;

  simd() = default;
  template <class Vector>
  requires(!std::is_arithmetic_v<Vector> && sizeof(Vector) == W * sizeof(T)) WANE_HOST_INLINE
      simd(Vector const& x)  // by reference: clang warns of emulated vectors passed by value
      : v(x) {}
  template <class Scalar>
  requires std::is_arithmetic_v<Scalar> WANE_HOST_INLINE explicit(!std::same_as<Scalar, T>)
      simd(Scalar x)
      : v(static_cast<T>(x) - vector{}) {}

  WANE_HOST_INLINE T operator[](int lane) const { return v[lane]; }
  WANE_HOST_INLINE simd operator-() const { return -v; }
  WANE_HOST_INLINE friend simd operator+(simd a, simd b) { return a.v + b.v; }
  WANE_HOST_INLINE friend simd operator-(simd a, simd b) { return a.v - b.v; }
  WANE_HOST_INLINE friend simd operator*(simd a, simd b) { return a.v * b.v; }
  WANE_HOST_INLINE friend simd operator/(simd a, simd b) { return a.v / b.v; }
  WANE_HOST_INLINE simd& operator+=(simd b) { return *this = *this + b; }

  WANE_HOST_INLINE static simd load(T const* p) {
    return vector(*reinterpret_cast<unaligned const*>(p));
  }
  WANE_HOST_INLINE void store(T* p) const { *reinterpret_cast<unaligned*>(p) = v; }
};

template <class T>
inline constexpr bool is_simd = false;
template <class T, int W>
inline constexpr bool is_simd<simd<T, W>> = true;

template <class T, int W>
WANE_HOST_INLINE simd<T, W> multiply_add(simd<T, W> a, simd<T, W> b, simd<T, W> c) {
  return a.v * b.v + c.v;
}

// Whether the machine computes a b + c with one rounding. A compiler need not make multiply_add of
// it: g++ does from -O2 on.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__CUDA_ARCH__)
inline constexpr bool has_fused_multiply_add = true;
#else
inline constexpr bool has_fused_multiply_add = false;
#endif

// a b + c with one rounding on every machine, lane by lane where there is no instruction for the
// vector. It also gives the rounding error of a product, a b - round(a b), for which multiply_add
// may give zero.
template <class T, int W>
WANE_HOST_INLINE simd<T, W> fused_multiply_add(simd<T, W> a, simd<T, W> b, simd<T, W> c) {
#if defined(__AVX512F__) && !defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float> && W == 16) return _mm512_fmadd_ps(a.v, b.v, c.v);
  if constexpr (std::is_same_v<T, double> && W == 8) return _mm512_fmadd_pd(a.v, b.v, c.v);
#endif
#if defined(__FMA__) && !defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float> && W == 8) return _mm256_fmadd_ps(a.v, b.v, c.v);
  if constexpr (std::is_same_v<T, double> && W == 4) return _mm256_fmadd_pd(a.v, b.v, c.v);
  if constexpr (std::is_same_v<T, float> && W == 4) return _mm_fmadd_ps(a.v, b.v, c.v);
  if constexpr (std::is_same_v<T, double> && W == 2) return _mm_fmadd_pd(a.v, b.v, c.v);
#elif defined(__ARM_FEATURE_FMA) && !defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float> && W == 4)
    return typename simd<T, W>::vector(vfmaq_f32(c.v, a.v, b.v));
  if constexpr (std::is_same_v<T, double> && W == 2)
    return typename simd<T, W>::vector(vfmaq_f64(c.v, a.v, b.v));
#endif
  simd<T, W> y;
  for (int lane = 0; lane < W; ++lane) y.v[lane] = std::fma(a[lane], b[lane], c[lane]);
  return y;
}
template <std::floating_point T>
WANE_INLINE T fused_multiply_add(T a, T b, T c) {
  return std::fma(a, b, c);
}

// Lane by lane: b where a is zero, otherwise c. A select, so that a reset ignores a NaN in c.
template <class T, int W>
WANE_HOST_INLINE simd<T, W> where_zero(simd<T, W> a, simd<T, W> b, simd<T, W> c) {
  return (a.v == typename simd<T, W>::vector{}) ? b.v : c.v;
}
template <class T>
WANE_INLINE T where_zero(T a, T b, T c) {
  return a == T(0) ? b : c;
}

// Lane by lane: a where x < bound, otherwise b.
template <class T, int W>
WANE_HOST_INLINE simd<T, W> where_below(simd<T, W> x, simd<T, W> bound, simd<T, W> a,
                                        simd<T, W> b) {
  return (x.v < bound.v) ? a.v : b.v;
}
template <class T>
WANE_INLINE T where_below(T x, T bound, T a, T b) {
  return x < bound ? a : b;
}

template <class To, class From, int W>
WANE_HOST_INLINE simd<To, W> convert(simd<From, W> x) {
  if constexpr (std::is_same_v<To, From>)
    return x;
  else
    return __builtin_convertvector(x.v, typename simd<To, W>::vector);
}

// at_least: the larger of bound and x; at_most: the smaller. Both return x where x is NaN.
template <class T, int W>
WANE_HOST_INLINE simd<T, W> at_least(simd<T, W> bound, simd<T, W> x) {
#if defined(__AVX512F__) && !defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float> && W == 16)
    return _mm512_maskz_max_ps(0xffff, bound.v, x.v);
  if constexpr (std::is_same_v<T, double> && W == 8) return _mm512_maskz_max_pd(0xff, bound.v, x.v);
#endif
  return x.v < bound.v ? bound.v : x.v;
}
template <class T, int W>
WANE_HOST_INLINE simd<T, W> at_most(simd<T, W> bound, simd<T, W> x) {
#if defined(__AVX512F__) && !defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float> && W == 16)
    return _mm512_maskz_min_ps(0xffff, bound.v, x.v);
  if constexpr (std::is_same_v<T, double> && W == 8) return _mm512_maskz_min_pd(0xff, bound.v, x.v);
#endif
  return x.v > bound.v ? bound.v : x.v;
}
template <class T>
WANE_INLINE T at_least(T bound, T x) {
  return x < bound ? bound : x;
}
template <class T>
WANE_INLINE T at_most(T bound, T x) {
  return x > bound ? bound : x;
}

}  // namespace wane
