// decay_from_log against 50 digits, and its bits in numbers and in vectors.
// SPDX-License-Identifier: MIT
#include "wane/core/numbers/decay.hpp"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "support/random_values.hpp"

namespace {

using exact = boost::multiprecision::cpp_bin_float_50;

template <class T>
class DecayFromLog : public testing::Test {
 public:
  static constexpr double epsilon = std::numeric_limits<T>::epsilon();
  // Below, the decay is no normal number any more.
  static constexpr double lowest = sizeof(T) == 4 ? -87.33 : -708.39;
  static constexpr T infinity = std::numeric_limits<T>::infinity();

  static exact value(T x) {
    auto const w = wane::decay_from_log(x);
    return exact(w.whole) + exact(w.rest);
  }
  // Log decays of every size, and beside every multiple of ln 2 / 2.
  template <class Body>
  static void for_many_logs(Body const& body) {
    support::random_values random;
    for (int n = 0; n < 20000; ++n) body(static_cast<T>(random.log_decay(1e-30, -lowest)));
    for (int n = 0; n * 0.3466 < -lowest; ++n) {
      T x = static_cast<T>(-n * 0.34657359027997264);
      for (int k = 0; k < 4; ++k) body(x), x = std::nextafter(x, -infinity);
    }
  }
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(DecayFromLog, Scalars);

TYPED_TEST(DecayFromLog, IsWithinOneUlp) {
  // `rest` errs by half an ulp of at most 0.42 / 0.71 of the sum; the argument reduction errs too.
  double worst = 0;
  this->for_many_logs([&](TypeParam x) {
    exact const right = exp(exact(x));
    worst = std::max(worst, static_cast<double>(abs(this->value(x) - right) / right));
  });
  EXPECT_LT(worst, this->epsilon);
}

TYPED_TEST(DecayFromLog, KeepsTheRestOfATinyLog) {
  // Where whole = 1 the rest is expm1(x) with a relative error of its own: about two roundings.
  support::random_values random;
  for (int n = 0; n < 20000; ++n) {
    auto const x = static_cast<TypeParam>(random.log_decay(1e-30, 0.34));
    auto const w = wane::decay_from_log(x);
    ASSERT_EQ(w.whole, TypeParam(1)) << x;
    exact const right = expm1(exact(x));
    ASSERT_LT(static_cast<double>(abs((exact(w.rest) - right) / right)), 1.5 * this->epsilon) << x;
  }
}

TYPED_TEST(DecayFromLog, IsAPowerOfTwoAndASmallerRest) {
  this->for_many_logs([&](TypeParam x) {
    auto const w = wane::decay_from_log(x);
    int exponent;
    ASSERT_EQ(std::frexp(w.whole, &exponent), TypeParam(0.5)) << x;
    ASSERT_LE(std::abs(w.rest), TypeParam(0.42) * w.whole) << x;
  });
}

TYPED_TEST(DecayFromLog, NeverForgetsAtZeroAndResetsAtMinusInfinity) {
  for (TypeParam zero : {TypeParam(0), TypeParam(-0.0)}) {
    EXPECT_EQ(wane::decay_from_log(zero).whole, TypeParam(1));
    EXPECT_EQ(wane::decay_from_log(zero).rest, TypeParam(0));
  }
  for (TypeParam x : {-this->infinity, std::numeric_limits<TypeParam>::lowest(), TypeParam(-1e4)}) {
    EXPECT_EQ(wane::decay_from_log(x).whole, TypeParam(0));
    EXPECT_EQ(wane::decay_from_log(x).rest, TypeParam(0));
  }
}

TYPED_TEST(DecayFromLog, BelowTheNormalNumbersIsZeroOrNear) {
  // Between, either the right denormal number or zero: off by the least normal number at most.
  double const least = std::numeric_limits<TypeParam>::min();
  for (double x = this->lowest - 0.001; x > this->lowest * 1.3; x -= 0.01) {
    double const w = static_cast<double>(this->value(static_cast<TypeParam>(x)));
    EXPECT_GE(w, 0) << x;
    EXPECT_NEAR(w, std::exp(x), least) << x;
  }
}

TYPED_TEST(DecayFromLog, OfADenormalLogLosesNothing) {
  TypeParam const x = -3 * std::numeric_limits<TypeParam>::denorm_min();
  EXPECT_EQ(wane::decay_from_log(x).whole, TypeParam(1));
  EXPECT_EQ(wane::decay_from_log(x).rest, x);
}

TYPED_TEST(DecayFromLog, GrowsWithPositiveLogsUpToTheLargestNumbers) {
  for (double x : {1e-9, 0.3, 1.0, 5.0, 40.0, 87.5}) {
    exact const right = exp(exact(static_cast<TypeParam>(x)));
    EXPECT_LT(static_cast<double>(abs(this->value(static_cast<TypeParam>(x)) / right - 1)),
              this->epsilon);
  }
  for (TypeParam x : {TypeParam(1000), this->infinity}) {
    EXPECT_GT(this->value(x), exact(1e38));
    EXPECT_TRUE(std::isfinite(wane::factor_of(wane::decay_from_log(x))));
  }
}

TYPED_TEST(DecayFromLog, IsNaNForEveryNaNAndNoReset) {
  using T = TypeParam;
  using bits = wane::impl::bits_of<T>;
  auto const nan = std::bit_cast<bits>(std::numeric_limits<T>::quiet_NaN());
  for (bits payload = 0; payload < 1024; ++payload) {
    T const x = std::bit_cast<T>(nan | payload);
    auto const w = wane::decay_from_log(x);
    ASSERT_TRUE(std::isnan(wane::factor_of(w))) << payload;
    ASSERT_TRUE(std::isnan(wane::carried(w, T(1), T(2)))) << payload;
  }
}

TYPED_TEST(DecayFromLog, HasTheSameBitsInAVector) {
  using T = TypeParam;
  constexpr int W = wane::simd_width<T>;
  auto const same = [](T a, T b) { return std::memcmp(&a, &b, sizeof(T)) == 0; };
  T logs[W];
  int filled = 0;
  auto const compare = [&](T x) {
    logs[filled++] = x;
    if (filled < W) return;
    filled = 0;
    auto const w = wane::decay_from_log(wane::simd<T, W>::load(logs));
    for (int l = 0; l < W; ++l) {
      auto const one = wane::decay_from_log(logs[l]);
      ASSERT_TRUE(same(one.whole, w.whole[l]) && same(one.rest, w.rest[l])) << logs[l];
      ASSERT_TRUE(same(wane::factor_of(one), wane::factor_of(w)[l])) << logs[l];
    }
  };
  this->for_many_logs(compare);
  for (int n = 0; n < 3 * W; ++n) {
    T const special[] = {-this->infinity, T(0), T(-0.0), T(90), T(800), T(-88), T(-1e-44)};
    compare(special[n % 7]);
  }
}

TEST(DecayFromLogs, NearZeroCarryAFloatThroughWithoutRoundingIt) {
  // w = 1 - 1e-9 is no float: the state passes unchanged, and the rest holds the loss.
  auto const w = wane::decay_from_log(-1e-9f);
  EXPECT_EQ(wane::carried(w, 3.f, 0.25f), 3.25f);
  EXPECT_EQ(wane::carried(w, 3.f, 0.f), 3.f);
  EXPECT_EQ(w.rest, -1e-9f);
}

TYPED_TEST(DecayFromLog, AResetIgnoresTheState) {
  using T = TypeParam;
  for (T s : {std::numeric_limits<T>::quiet_NaN(), this->infinity, T(5)}) {
    EXPECT_EQ(wane::carried(wane::decay_from_log(-this->infinity), s, T(2)), T(2));
    EXPECT_EQ(wane::carried(wane::plain_decay<T>{T(0)}, s, T(2)), T(2));
    EXPECT_EQ(wane::carried(wane::plain_decay<T>{T(-0.0)}, s, T(2)), T(2));
  }
}

}  // namespace
