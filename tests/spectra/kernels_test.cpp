// The power law, and what counts as a kernel.
// SPDX-License-Identifier: MIT
#include "wane/spectra/kernels.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "expect_refusal.hpp"

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

TEST(Kernels, AreAnythingThatAnswersALagWithANumber) {
  auto const steps = [](std::int64_t lag) { return lag < 3 ? 1.f : 0.f; };
  static_assert(target_kernel<power_law> && target_kernel<decltype(steps)>);
  static_assert(!target_kernel<double> && !target_kernel<std::string>);
  EXPECT_EQ(values_at(steps, {1, 2, 3}), (std::vector<double>{1, 1, 0}));
}

}  // namespace
