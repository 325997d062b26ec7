// Powers of poles in the lanes of a vector, against long double.
// SPDX-License-Identifier: MIT
#include "wane/core/numbers/powers.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <numbers>
#include <random>

namespace {

constexpr int W = wane::simd_width<double>;
using vector = wane::simd<double, W>;
using wide = std::complex<long double>;

TEST(Turn, IsWithinTwoUlpOfTheCircle) {
  std::mt19937_64 bits(1);
  for (double const range : {0.1, 3.2, 100., 1e5, 1e7, 1e12}) {
    std::uniform_real_distribution<double> some(-range, range);
    for (int n = 0; n < 2000; ++n) {
      vector x(0.);
      for (int l = 0; l < W; ++l) x.v[l] = some(bits);
      if (n % 2) x.v[W - 1] = std::round(x[W - 1]) * std::numbers::pi / 2;
      auto const z = wane::impl::turn(x);
      for (int l = 0; l < W; ++l) {
        EXPECT_NEAR(z.re[l], double(std::cos(static_cast<long double>(x[l]))), 2.3e-16) << x[l];
        EXPECT_NEAR(z.im[l], double(std::sin(static_cast<long double>(x[l]))), 2.3e-16) << x[l];
      }
    }
  }
}

TEST(PowerOf, InLanesIsWithinAFewUlp) {
  std::mt19937_64 bits(2);
  std::uniform_real_distribution<double> log_rate(-9, 1), turn(-3.15, 3.15), log_lag(0, 12);
  for (int n = 0; n < 5000; ++n) {
    vector rate(0.), angle(0.), lag(0.);
    for (int l = 0; l < W; ++l)
      rate.v[l] = -std::exp(log_rate(bits)), angle.v[l] = turn(bits),
      lag.v[l] = std::floor(std::exp(log_lag(bits)));
    auto const z = wane::impl::power_of(rate, angle, lag);
    for (int l = 0; l < W; ++l) {
      wide const is(z.re[l], z.im[l]),
          must_be = wane::impl::power_of<long double>(rate[l], angle[l], lag[l]);
      if (rate[l] * lag[l] < -700) continue;
      EXPECT_LT(double(std::abs(is - must_be) / std::abs(must_be)), 8e-16);
    }
  }
}

TEST(PowerOf, OfADecayBelowTheNormalNumbersIsZero) {
  auto const z = wane::impl::power_of(vector(-3.), vector(1.), vector(1000.));
  for (int l = 0; l < W; ++l) EXPECT_EQ(std::complex(z.re[l], z.im[l]), std::complex(0., 0.));
}

}  // namespace
