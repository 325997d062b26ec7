// The power law, and what counts as a kernel.
// SPDX-License-Identifier: MIT
#include "wane/spectra/fit/kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "spectra/expect_refusal.hpp"

namespace {

using namespace wane::spectra;

TEST(PowerLaw, IsTheLagToMinusBeta) {
  EXPECT_EQ(power_law(0.5)(1), 1.0);
  EXPECT_DOUBLE_EQ(power_law(0.5)(1'000'000'000'000), 1e-6);
  EXPECT_DOUBLE_EQ(power_law(2)(10), 0.01);
}

TEST(PowerLaw, RefusesAnExponentThatDoesNotDecayAndALagBelowOne) {
  expect_refusal([] { power_law{0}; }, {"beta is 0", "positive"});
  expect_refusal([] { power_law{-1}; }, {"beta is -1"});
  expect_refusal([] { power_law{std::numeric_limits<double>::quiet_NaN()}; }, {"beta is nan"});
  expect_refusal([] { power_law(1)(0); }, {"lag is 0", "at least 1"});
}

TEST(PowerLaw, HasSecondDifferencesAcrossTheChangeOfFormula) {
  for (double beta : {0.1, 0.5, 1.5, 6.0}) {
    power_law const k(beta);
    auto const plain = [&](std::int64_t l) { return k(l - 1) - 2 * k(l) + k(l + 1); };
    for (std::int64_t lag : {2, 10, 999, 1000, 1001, 2000})  // at 2000 the plain ones lose 7 digits
      EXPECT_NEAR(k.second_difference(lag) / plain(lag), 1, 1e-8) << beta << ", " << lag;
    EXPECT_NEAR(k.second_difference(1000000000) * 1e18 / (beta * (beta + 1) * k(1000000000)), 1,
                1e-14);
  }
}

TEST(PowerLaw, IsTheLaplaceTransformOfItsDensity) {
  for (double beta : {0.3, 1.0, 2.5}) {
    double sum = 0;  // the trapezoidal rule in log rate
    for (double u = -200; u < 6; u += 0.125)
      sum +=
          0.125 * std::exp(u) * power_law(beta).density(std::exp(u)) * std::exp(-7 * std::exp(u));
    EXPECT_NEAR(sum / power_law(beta)(7), 1, 1e-12);
  }
}

TEST(Kernels, AreAnythingThatAnswersALagWithANumber) {
  auto const steps = [](std::int64_t lag) { return lag < 3 ? 1.f : 0.f; };
  static_assert(target_kernel<power_law> && target_kernel<decltype(steps)>);
  static_assert(!target_kernel<double> && !target_kernel<std::string>);
  EXPECT_EQ(values_at(steps, {1, 2, 3}), (std::vector<double>{1, 1, 0}));
}

}  // namespace
