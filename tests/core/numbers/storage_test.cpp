// bfloat16 and float16: all 65536 patterns, and correct rounding.
// SPDX-License-Identifier: MIT
#include "wane/core/numbers/storage.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "support/random_values.hpp"
#include "wane/core/recurrence/view.hpp"

namespace {

using wane::bfloat16;
using wane::float16;

// IEEE 754: sign, `exponents` exponent bits, `digits` bits behind the point; from the definition.
double value_of(std::uint32_t bits, int exponents, int digits) {
  std::uint32_t const fraction = bits & ((1u << digits) - 1), largest = (1u << exponents) - 1;
  std::uint32_t const exponent = (bits >> digits) & largest;
  int const bias = (1 << (exponents - 1)) - 1;
  double const sign = bits >> (exponents + digits) ? -1 : 1;
  if (exponent == largest) return fraction ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - digits);
  return sign * std::ldexp((1u << digits) + fraction, static_cast<int>(exponent) - bias - digits);
}

template <class Stored>
struct format;
template <>
struct format<bfloat16> {
  static constexpr int exponents = 8, digits = 7;
};
template <>
struct format<float16> {
  static constexpr int exponents = 5, digits = 10;
};

template <class Stored>
Stored pattern(std::uint32_t bits) {
  Stored x;
  x.bits = static_cast<std::uint16_t>(bits);
  return x;
}

template <class Stored>
class Storage : public testing::Test {
 public:
  static constexpr int exponents = format<Stored>::exponents, digits = format<Stored>::digits;
  static constexpr std::uint32_t infinity = ((1u << exponents) - 1) << digits;

  static double value(std::uint32_t bits) { return value_of(bits, exponents, digits); }

  // Nearest, ties to the even pattern, found by search among all numbers of the type.
  static std::uint32_t nearest(float x) {
    if (std::isnan(x)) return infinity + 1;
    double const size = std::abs(static_cast<double>(x));
    std::uint32_t low = 0, high = infinity;
    while (high - low > 1) {
      std::uint32_t const middle = (low + high) / 2;
      (value(middle) <= size ? low : high) = middle;
    }
    // Infinity stands where the next number would, if the exponents went on.
    double const above = high == infinity ? 2 * value(low) - value(low - 1) : value(high);
    double const middle = (value(low) + above) / 2;
    bool const up = size > middle || (size == middle && low % 2 == 1);
    return (up ? high : low) | (std::signbit(x) ? 0x8000u : 0u);
  }
};

using Types = testing::Types<bfloat16, float16>;
TYPED_TEST_SUITE(Storage, Types);

TYPED_TEST(Storage, EveryPatternMeansWhatIeeeSays) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    float const x = pattern<TypeParam>(bits);
    double const should_be = this->value(bits);
    if (std::isnan(should_be)) {
      ASSERT_TRUE(std::isnan(x)) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(x), should_be) << bits;
      ASSERT_EQ(std::signbit(x), std::signbit(should_be)) << bits;
    }
  }
}

TYPED_TEST(Storage, EveryPatternComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    float const x = pattern<TypeParam>(bits);
    TypeParam const back(x);
    if (std::isnan(x))
      ASSERT_TRUE(std::isnan(static_cast<float>(back))) << bits;
    else
      ASSERT_EQ(back.bits, bits);
  }
}

TYPED_TEST(Storage, MiddlesGoToTheEvenNeighbour) {
  for (std::uint32_t bits = 0; bits < this->infinity; ++bits) {
    double const here = this->value(bits);
    double const above =
        bits + 1 == this->infinity ? 2 * here - this->value(bits - 1) : this->value(bits + 1);
    float const middle = static_cast<float>((here + above) / 2);
    if (static_cast<double>(middle) != (here + above) / 2) continue;
    for (float x : {middle, std::nextafter(middle, HUGE_VALF), std::nextafter(middle, 0.f)}) {
      ASSERT_EQ(TypeParam(x).bits, this->nearest(x)) << x;
      ASSERT_EQ(TypeParam(-x).bits, this->nearest(-x)) << x;
    }
  }
}

TYPED_TEST(Storage, RandomFloatsGoToTheNearest) {
  support::random_values random;
  for (int n = 0; n < 300000; ++n) {
    auto const bits = static_cast<std::uint32_t>(random.bits() >> 32);
    float const x = std::bit_cast<float>(bits);
    if (std::isnan(x))
      ASSERT_TRUE(std::isnan(static_cast<float>(TypeParam(x)))) << bits;
    else
      ASSERT_EQ(TypeParam(x).bits, this->nearest(x)) << x;
  }
}

TYPED_TEST(Storage, NaNStaysNaNWhateverItsPayload) {
  for (std::uint32_t payload : {1u, 0x1fffu, 0x7fffu, 0xffffu, 0x200000u, 0x400001u, 0x7fffffu})
    for (std::uint32_t sign : {0u, 0x80000000u}) {
      float const x = std::bit_cast<float>(sign | 0x7f800000u | payload);
      EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(x)))) << payload;
    }
}

TYPED_TEST(Storage, TheLargestFloatsBecomeInfinite) {
  EXPECT_EQ(static_cast<float>(TypeParam(std::numeric_limits<float>::max())), HUGE_VALF);
  EXPECT_EQ(static_cast<float>(TypeParam(-std::numeric_limits<float>::max())), -HUGE_VALF);
}

// Through a view, as runners read and write.
template <int W, class Stored>
void expect_lanes_like_numbers() {
  support::random_values random;
  Stored stored[W], rounded[W];
  float numbers[W];
  wane::sequence_view<Stored> const in(stored, 1, 1, 1, W), out(rounded, 1, 1, 1, W);
  for (std::uint32_t first = 0; first < 0x10000; first += W) {
    for (int l = 0; l < W; ++l) {
      stored[l] = pattern<Stored>(first + static_cast<std::uint32_t>(l));
      numbers[l] = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits() >> 32));
    }
    wane::simd<float, W> const read = in.read({0, 0, 0}, wane::lanes<W>{0});
    for (int l = 0; l < W; ++l)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(read[l]),
                std::bit_cast<std::uint32_t>(static_cast<float>(stored[l])));
    for (auto const& x : {wane::simd<float, W>::load(numbers), read}) {
      out.write({0, 0, 0}, wane::lanes<W>{0}, x);
      for (int l = 0; l < W; ++l) ASSERT_EQ(rounded[l].bits, Stored(x[l]).bits) << x[l];
    }
  }
}
TYPED_TEST(Storage, LanesAreLikeNumbers) {
  expect_lanes_like_numbers<4, TypeParam>();
  expect_lanes_like_numbers<wane::simd_width<float>, TypeParam>();
}

}  // namespace
