// bfloat16 and float16: storage types, read as float, rounded to nearest even.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "wane/core/scalar.hpp"

namespace wane {

// The upper half of a float: 8 exponent bits, 8 significant bits.
struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  WANE_HOST_DEVICE explicit bfloat16(float value) {
    auto const word = __builtin_bit_cast(std::uint32_t, value);
    bool const is_nan = (word & 0x7fffffffu) > 0x7f800000u;
    auto const rounded = word + 0x7fffu + ((word >> 16) & 1u);
    bits = static_cast<std::uint16_t>(is_nan ? (word >> 16) | 0x40u : rounded >> 16);
  }
  WANE_HOST_DEVICE operator float() const {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16);
  }
};

// IEEE binary16: 5 exponent bits, 11 significant bits; overflow gives infinity.
struct float16 {
  std::uint16_t bits = 0;

  float16() = default;
  WANE_HOST_DEVICE explicit float16(float value) {
    auto const word = __builtin_bit_cast(std::uint32_t, value);
    auto const sign = static_cast<std::uint32_t>((word >> 16) & 0x8000u);
    auto const magnitude = word & 0x7fffffffu;
    std::uint32_t half = 0;
    if (magnitude > 0x7f800000u) {
      half = 0x7e00u;  // NaN
    } else if (magnitude >= 0x477ff000u) {
      half = 0x7c00u;  // 65520 and above round to infinity
    } else if (magnitude < 0x38800000u) {
      // below 2^-14: adding 1/2 rounds to the spacing 2^-24 of the subnormal numbers
      float const shifted = __builtin_bit_cast(float, magnitude) + 0.5f;
      half = __builtin_bit_cast(std::uint32_t, shifted) - 0x3f000000u;
    } else {
      half = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    }
    bits = static_cast<std::uint16_t>(sign | half);
  }
  WANE_HOST_DEVICE operator float() const {
    auto const sign = (static_cast<std::uint32_t>(bits) & 0x8000u) << 16;
    auto const magnitude = static_cast<std::uint32_t>(bits) & 0x7fffu;
    if (magnitude >= 0x7c00u)  // infinity and NaN
      return __builtin_bit_cast(float, sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
    if (magnitude < 0x0400u) {  // subnormal
      float const value = static_cast<float>(magnitude) * 0x1p-24f;
      return sign ? -value : value;
    }
    return __builtin_bit_cast(float, sign | ((magnitude << 13) + 0x38000000u));
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
