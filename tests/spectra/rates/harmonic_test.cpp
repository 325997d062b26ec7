// Generalised harmonic sums against fifty digits, and the impulse responses they give.
// SPDX-License-Identifier: MIT
#include "wane/spectra/rates/harmonic.hpp"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <cstdint>

#include "spectra/expect_refusal.hpp"

namespace {

using namespace wane::spectra;
using fifty_digits = boost::multiprecision::cpp_bin_float_50;

TEST(HarmonicSum, IsThatOfItsTerms) {
  for (double alpha : {0.0, 0.01, 0.25, 0.5, 0.75, 0.999999, 1.0})
    for (std::int64_t first : {0, 1, 3, 15, 16, 17, 100, 3000}) {
      fifty_digits sum = 0;
      EXPECT_EQ(harmonic_sum(alpha, first, first), 0.0);
      for (std::int64_t u = first + 1; u <= first + 300; ++u) {
        sum += pow(fifty_digits(u), -fifty_digits(alpha));
        if (u % 50 > 1) continue;
        // Sixteen terms added up and the formula, each step half an epsilon at most: measured
        // 3e-15.
        EXPECT_NEAR(static_cast<double>(harmonic_sum(alpha, first, u) / sum), 1, 4e-15)
            << alpha << ", " << first << ", " << u;
      }
    }
}

TEST(HarmonicSum, LosesNothingFarOut) {
  // Ten terms after 10^15, where sums from the start would have lost all digits but few.
  std::int64_t const far = 1000000000000000;
  for (double alpha : {0.3, 0.8, 1.0}) {
    fifty_digits sum = 0;
    for (std::int64_t u = far + 1; u <= far + 10; ++u)
      sum += pow(fifty_digits(u), -fifty_digits(alpha));
    EXPECT_NEAR(static_cast<double>(harmonic_sum(alpha, far, far + 10) / sum), 1, 2e-15);
  }
  // And over all of it: gamma + log n, and pieces that add up.
  EXPECT_NEAR(harmonic_sum(1, 0, far), 0.57721566490153286 + std::log(1e15), 1e-13);
  EXPECT_NEAR(harmonic_sum(0.4, 0, 1000) + harmonic_sum(0.4, 1000, far), harmonic_sum(0.4, 0, far),
              1e-14 * harmonic_sum(0.4, 0, far));
  EXPECT_EQ(harmonic_sum(0, 5, far), 1e15 - 5);
}

TEST(HarmonicSum, MakesTheSlowestChannelAPowerLaw) {
  // Taper 1, rate r: what is left of position m at position t is (m/t)^r, up to about r/(2m); the
  // gate of position t, frozen, would leave exp(-r (t-m)/t): 0.607 for 0.5, and 0.407 for 0.1.
  for (double part : {0.1, 0.5, 0.9}) {
    std::int64_t const t = 100000, m = t - static_cast<std::int64_t>(part * 1e5);
    double const left = std::exp(-harmonic_sum(1, m, t));
    EXPECT_NEAR(left, static_cast<double>(m) / static_cast<double>(t), 1e-4);
  }
}

TEST(HarmonicSum, RefusesWhatIsNoSum) {
  expect_refusal([] { (void)harmonic_sum(-0.1, 0, 1); }, {"alpha is -0.1"});
  expect_refusal([] { (void)harmonic_sum(1.5, 0, 1); }, {"alpha is 1.5"});
  expect_refusal([] { (void)harmonic_sum(0.5, 3, 2); }, {"positions are 3 and 2"});
  expect_refusal([] { (void)harmonic_sum(0.5, -1, 2); }, {"positions are -1 and 2"});
}

TEST(HarmonicSum, AddsUpTheLogDecaysBetweenTwoPositions) {
  // The rates themselves, step by step; a thousand roundings.
  double const rate = 0.3, alpha = 0.4;
  double sum = 0;
  for (int u = 101; u <= 1100; ++u) sum -= rate * std::pow(u / 512.0, -alpha);
  EXPECT_NEAR(log_decay_between(rate, alpha, 512, 100, 1100), sum, 1e-13 * std::abs(sum));
  EXPECT_EQ(log_decay_between(rate, alpha, 512, 100, 100), 0);
  EXPECT_EQ(log_decay_between(rate, 0, 512, 100, 110), -3);
  expect_refusal([] { (void)log_decay_between(0, 1, 1, 1, 2); }, {"rate is 0"});
  expect_refusal([] { (void)log_decay_between(1, 1, 0, 1, 2); }, {"trained_at is 0"});
}

}  // namespace
