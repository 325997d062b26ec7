// bfloat16 and float16: storage types, read as float, rounded to nearest even.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>

#include "wane/core/numbers/simd.hpp"

namespace wane::impl {

// x < bound ? a : b, for a word or a vector of words. x and bound are at most 2^31.
template <std::uint32_t bound, class Words>
WANE_INLINE Words where_less(Words const& x, Words const& a, Words const& b) {
  return b ^ ((0u - ((x - bound) >> 31)) & (a ^ b));
}

}  // namespace wane::impl

namespace wane {

// widen turns the bits of a stored number into the bits of a float, and narrow turns them back.
// Words is one 32-bit word or a vector of them; Floats is the same of floats.

// The upper half of a float: 8 exponent bits, 8 significant bits.
struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  WANE_HOST_DEVICE explicit bfloat16(float value) {
#ifdef WANE_ROUNDS_BY_INSTRUCTION
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
#else
    bits = static_cast<std::uint16_t>(narrow<float>(__builtin_bit_cast(std::uint32_t, value)));
#endif
  }
  WANE_HOST_DEVICE operator float() const {
    return __builtin_bit_cast(float, widen<float>(std::uint32_t{bits}));
  }

  template <class Floats, class Words>
  WANE_INLINE static Words widen(Words const& half) {
    return half << 16;
  }
  template <class Floats, class Words>
  WANE_INLINE static Words narrow(Words const& word) {
    Words const rounded = (word + 0x7fffu + ((word >> 16) & 1u)) >> 16;
    return impl::where_less<0x7f800001u>(word & 0x7fffffffu, rounded, (word >> 16) | 0x40u);  // NaN
  }
};

// IEEE binary16: 5 exponent bits, 11 significant bits; overflow gives infinity.
struct float16 {
  std::uint16_t bits = 0;

  float16() = default;
  WANE_HOST_DEVICE explicit float16(float value) {
#ifdef WANE_ROUNDS_BY_INSTRUCTION
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
#else
    bits = static_cast<std::uint16_t>(narrow<float>(__builtin_bit_cast(std::uint32_t, value)));
#endif
  }
  WANE_HOST_DEVICE operator float() const {
    return __builtin_bit_cast(float, widen<float>(std::uint32_t{bits}));
  }

  // Subnormal numbers are multiples of 2^-24, which is the spacing of floats from 1/2 to 1. So
  // adding or subtracting 1/2 aligns their bits with those of a float.
  template <class Floats, class Words>
  WANE_INLINE static Words widen(Words const& half) {
    Words const sign = (half & 0x8000u) << 16, magnitude = half & 0x7fffu;
    Words const special = (magnitude << 13) | 0x7f800000u;  // infinity and NaN
    Words const normal = (magnitude << 13) + 0x38000000u;
    Words const subnormal =
        __builtin_bit_cast(Words, __builtin_bit_cast(Floats, magnitude + 0x3f000000u) - 0.5f);
    Words const finite = impl::where_less<0x0400u>(magnitude, subnormal, normal);
    return sign | impl::where_less<0x7c00u>(magnitude, finite, special);
  }
  template <class Floats, class Words>
  WANE_INLINE static Words narrow(Words const& word) {
    Words const sign = (word >> 16) & 0x8000u, magnitude = word & 0x7fffffffu;
    Words const normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    Words const subnormal =
        __builtin_bit_cast(Words, __builtin_bit_cast(Floats, magnitude) + 0.5f) - 0x3f000000u;
    Words const infinity = magnitude * 0u + 0x7c00u, nan = magnitude * 0u + 0x7e00u;
    Words const finite = impl::where_less<0x38800000u>(magnitude, subnormal, normal);
    Words const number = impl::where_less<0x477ff000u>(magnitude, finite, infinity);
    return sign | impl::where_less<0x7f800001u>(magnitude, number, nan);
  }
};

template <>
struct widened_type<bfloat16> {
  using type = float;
};
template <>
struct widened_type<float16> {
  using type = float;
};

}  // namespace wane

namespace wane::impl {

// nvcc has no vectors of 16-bit numbers, but has to find functions of these names. No tensor holds
// no_lanes, so they are never called.
struct no_lanes;
template <int W>
void load_lanes(no_lanes const*);
template <class V>
void store_lanes(no_lanes*, V);

#if !defined(__CUDACC__)  // under nvcc numbers are converted one by one
// The vector types that convert W neighbouring 16-bit numbers to floats and back.
template <int W>
struct stored_words {
  typedef std::uint16_t halves __attribute__((vector_size(W * 2)));
  typedef std::uint32_t words __attribute__((vector_size(W * 4)));
  using floats = typename simd<float, W>::vector;
};
// Widens or narrows integers. g++ 12 makes five instructions of widening to 512 bits and three of
// narrowing, where the processor has one.
template <class To, class From>
WANE_HOST_INLINE To resize_words(From const& x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(To) == 64 && sizeof(From) == 32)
    return __builtin_bit_cast(To,
                              _mm512_maskz_cvtepu16_epi32(0xffff, __builtin_bit_cast(__m256i, x)));
  if constexpr (sizeof(To) == 32 && sizeof(From) == 64)
    return __builtin_bit_cast(To,
                              _mm512_maskz_cvtepi32_epi16(0xffff, __builtin_bit_cast(__m512i, x)));
#endif
  return __builtin_convertvector(x, To);
}
template <class T>
concept stored_in_16_bits = std::same_as<T, bfloat16> || std::same_as<T, float16>;
template <int W, stored_in_16_bits T>
WANE_HOST_INLINE simd<float, W> load_lanes(T const* from) {
  typename stored_words<W>::halves half;
  std::memcpy(&half, from, sizeof half);
  auto const words = resize_words<typename stored_words<W>::words>(half);
  using floats = typename stored_words<W>::floats;
  return __builtin_bit_cast(floats, T::template widen<floats>(words));
}
template <stored_in_16_bits T, int W>
WANE_HOST_INLINE void store_lanes(T* to, simd<float, W> value) {
  using floats = typename stored_words<W>::floats;
  auto const words = __builtin_bit_cast(typename stored_words<W>::words, value.v);
  auto const half =
      resize_words<typename stored_words<W>::halves>(T::template narrow<floats>(words));
  std::memcpy(static_cast<void*>(to), &half, sizeof half);
}

#endif

}  // namespace wane::impl
