// The Gruenwald-Letnikov kernel against 50-digit arithmetic, its recurrence and its limits.
// SPDX-License-Identifier: MIT
#include "wane/spectra/orders/gruenwald_letnikov.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_complex.hpp>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "wane/core/error.hpp"

namespace {

using wane::spectra::gruenwald_letnikov;
using fifty_digits = boost::multiprecision::cpp_bin_float_50;

// log Gamma(z) for z >= 4096 by Stirling: the next term is below 1e-61.
fifty_digits log_gamma(fifty_digits const& z) {
  // B_{2k} / (2k (2k-1)) as fractions.
  static std::pair<int, int> const terms[] = {{1, 12},    {-1, 360},      {1, 1260},
                                              {-1, 1680}, {1, 1188},      {-691, 360360},
                                              {1, 156},   {-3617, 122400}};
  fifty_digits sum = (z - 0.5) * log(z) - z;  // half of log 2 pi cancels in a quotient
  fifty_digits power = 1 / z;
  for (auto [numerator, denominator] : terms) {
    sum += numerator * power / denominator;
    power /= z * z;
  }
  return sum;
}

// Gamma(l+alpha) / (Gamma(alpha) l!): the product that defines it up to 4096, and from there the
// quotient of gammas, of which logarithms of 1e13 cost 14 of the 50 digits.
fifty_digits exact(double alpha, std::int64_t lag) {
  fifty_digits const a = alpha;
  fifty_digits product = 1;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(lag, 4096); ++i) product *= (i + a) / (i + 1);
  if (lag <= 4096) return product;
  fifty_digits const l = lag;
  return product * exp(log_gamma(l + a) - log_gamma(l + 1) - log_gamma(4096 + a) +
                       log_gamma(fifty_digits(4097)));
}

double epsilons(double value, fifty_digits const& right) {
  fifty_digits const relative = abs((value - right) / right);
  return static_cast<double>(relative) / std::numeric_limits<double>::epsilon();
}

std::vector<double> const orders = {1e-280, 1e-12, 1e-3, 0.1,  0.25,     0.3,
                                    0.5,    0.7,   0.9,  0.99, 1 - 1e-9, 1 - 0x1p-53};

TEST(GruenwaldLetnikov, IsWithinFourEpsilonOfFiftyDigitsAtAnyLag) {
  // Below lag 16: thirty roundings of half an epsilon at most, of random sign, about 3 together.
  // From 16: tgamma, pow and five roundings. Measured 1.9; the rest is left to other libraries.
  double worst = 0;
  for (double alpha : orders) {
    gruenwald_letnikov const kernel(alpha);
    std::vector<std::int64_t> lags = {100, 1000, 4096, 65537, 1000000, 123456789, 1000000000000};
    for (std::int64_t lag = 0; lag <= 40; ++lag) lags.push_back(lag);
    for (std::int64_t lag : lags) {
      worst = std::max(worst, epsilons(kernel(lag), exact(alpha, lag)));
      EXPECT_LE(worst, 4) << "alpha " << alpha << ", lag " << lag;
    }
  }
}

TEST(GruenwaldLetnikov, OfOrderOneIsExactlyThePlainSum) {
  gruenwald_letnikov const kernel(1);
  for (std::int64_t lag : {0, 1, 2, 15, 16, 17, 1000, 1 << 30}) EXPECT_EQ(kernel(lag), 1.0);
}

TEST(GruenwaldLetnikov, StartsAtOneAndAlpha) {
  for (double alpha : orders) {
    EXPECT_EQ(gruenwald_letnikov(alpha)(0), 1.0);
    EXPECT_EQ(gruenwald_letnikov(alpha)(1), alpha);
  }
}

TEST(GruenwaldLetnikov, ObeysItsRecurrenceAcrossTheChangeOfFormula) {
  // w_l = w_{l-1} (1 - (1-alpha)/l); each side within 4 epsilon.
  for (double alpha : {0.1, 0.5, 0.9}) {
    gruenwald_letnikov const kernel(alpha);
    for (std::int64_t lag = 1; lag < 60; ++lag)
      EXPECT_NEAR(kernel(lag) / (kernel(lag - 1) * (1 - (1 - alpha) / static_cast<double>(lag))), 1,
                  8 * std::numeric_limits<double>::epsilon());
  }
}

TEST(GruenwaldLetnikov, IsThePowerLawOfItsOrderFarOut) {
  // w_l = l^{alpha-1}/Gamma(alpha) (1 + O(1/l)).
  double const ratio =
      gruenwald_letnikov(0.5)(4'000'000'000) / gruenwald_letnikov(0.5)(1'000'000'000);
  EXPECT_NEAR(ratio, 0.5, 1e-9);
}

TEST(GruenwaldLetnikov, RefusesAnOrderOutsideItsRange) {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  for (double alpha : {0.0, -0.5, 1.0000001, nan})
    EXPECT_THROW(gruenwald_letnikov{alpha}, wane::error);
  try {
    gruenwald_letnikov const kernel(1.5);
    FAIL();
  } catch (wane::error const& refusal) {
    EXPECT_STREQ(refusal.what(), "alpha is 1.5; it must be in (0, 1]");
  }
}

TEST(GruenwaldLetnikov, RefusesANegativeLag) {
  EXPECT_THROW(gruenwald_letnikov(0.5)(-1), wane::error);
}

TEST(GruenwaldLetnikov, HasADerivativeInItsOrder) {
  // dw/dalpha = w (psi(l+alpha) - psi(alpha)): a sum of 1/(i+alpha) up to 4096, digamma in 50
  // digits from there. Five epsilon beside those of w.
  for (double alpha : orders) {
    gruenwald_letnikov const kernel(alpha);
    EXPECT_EQ(kernel.derivative(0), 0.0);
    for (std::int64_t lag : {1, 2, 7, 15, 16, 17, 40, 1000, 4096}) {
      fifty_digits sum = 0;
      for (std::int64_t i = 0; i < lag; ++i) sum += 1 / (i + fifty_digits(alpha));
      EXPECT_LE(epsilons(kernel.derivative(lag), exact(alpha, lag) * sum), 9)
          << "alpha " << alpha << ", lag " << lag;
    }
    fifty_digits const far = 1000000000000, a = alpha;
    EXPECT_LE(epsilons(kernel.derivative(1000000000000),
                       exact(alpha, 1000000000000) *
                           (boost::math::digamma(far + a) - boost::math::digamma(a))),
              9)
        << "alpha " << alpha;
  }
}

TEST(GruenwaldLetnikov, AddsUpInClosedForm) {
  for (double alpha : {1e-3, 0.1, 0.5, 0.9, 1.0}) {
    gruenwald_letnikov const kernel(alpha);
    EXPECT_EQ(kernel.sum(0), 0.0);
    fifty_digits sum = 0, weight = 1;
    for (std::int64_t lag = 0; lag < 3000; ++lag) {
      sum += weight;
      weight *= (lag + fifty_digits(alpha)) / (lag + 1);
      if (lag % 100 < 3) {
        EXPECT_LE(epsilons(kernel.sum(lag + 1), sum), 6) << alpha << ", " << lag;
      }
    }
  }
  // Growth (VORT, Prop. 4.4): t^alpha / Gamma(1+alpha), to a part of about 1/t.
  EXPECT_NEAR(gruenwald_letnikov(0.3).sum(1000000) * std::tgamma(1.3) / std::pow(1e6, 0.3), 1,
              1e-6);
}

TEST(GruenwaldLetnikov, HasTheFrequencyResponseOfAFractionalSum) {
  using complex = boost::multiprecision::cpp_complex_50;
  for (double alpha : {0.1, 0.5, 1.0})
    for (double omega : {1e-9, 1e-3, 0.5, 2.0, 3.14159, -1e-3, -3.0}) {
      complex const right = pow(1 - exp(complex(0, -fifty_digits(omega))), fifty_digits(-alpha));
      std::complex<double> const is = gruenwald_letnikov(alpha).frequency_response(omega);
      complex const apart = complex(is.real(), is.imag()) - right;
      EXPECT_LE(static_cast<double>(abs(apart) / abs(right)), 1e-15) << alpha << ", " << omega;
    }
  for (double omega : {0.0, 3.15, -4.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW((void)gruenwald_letnikov(0.5).frequency_response(omega), wane::error) << omega;
}

TEST(GruenwaldLetnikov, IsTheLaplaceTransformOfItsDensity) {
  // The trapezoidal rule in log rate, whose error falls faster than any power of the step.
  for (double alpha : {0.1, 0.5, 0.9}) {
    gruenwald_letnikov const kernel(alpha);
    for (std::int64_t lag : {1, 2, 10, 1000}) {
      double sum = 0;
      for (double u = -400; u < 6; u += 0.125)
        sum += 0.125 * std::exp(u) * kernel.density(std::exp(u)) *
               std::exp(-std::exp(u) * static_cast<double>(lag));
      EXPECT_NEAR(sum / kernel(lag), 1, 1e-12) << alpha << ", " << lag;
    }
  }
}

TEST(GruenwaldLetnikov, HasSecondDifferencesThatDoNotCancel) {
  for (double alpha : {0.1, 0.5, 0.9})
    for (std::int64_t lag : {1, 2, 20, 1000, 4000}) {
      fifty_digits const bend =
          exact(alpha, lag - 1) - 2 * exact(alpha, lag) + exact(alpha, lag + 1);
      EXPECT_LE(epsilons(gruenwald_letnikov(alpha).second_difference(lag), bend), 8);
    }
}

}  // namespace
