// The searched spacing of a linear spectrum.
// SPDX-License-Identifier: MIT
#include "wane/spectra/rates/best_linear_spacing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "spectra/expect_refusal.hpp"
#include "wane/spectra/fit/fit.hpp"

namespace {

using namespace wane::spectra;

double error(std::int64_t count, std::int64_t horizon) {
  double const spacing = best_linear_spacing(count, horizon, 0.5);
  return fit(linear(count, spacing), power_law(0.5), horizon).max_absolute_error;
}

TEST(BestLinearSpacing, HasTheMeasuredErrors) {
  // Design table B1, within 10 %.
  EXPECT_NEAR(error(4, 1000) / 7e-2, 1, 0.1);
  EXPECT_NEAR(error(32, 1000) / 2.8e-3, 1, 0.1);
  EXPECT_NEAR(error(8, 100000) / 4.2e-2, 1, 0.1);
  EXPECT_NEAR(error(16, 100000) / 2.3e-2, 1, 0.1);
  EXPECT_NEAR(error(16, 10000) / 2.5e-2, 1, 0.1);
  EXPECT_NEAR(error(32, 10000) / 1.5e-2, 1, 0.1);
}

TEST(BestLinearSpacing, AgreesWithALinearProgramOnAScan) {
  // 240 spacings, each by an interior solver written apart: 0.04059 and 0.01641 at T = 1000, 0.5 %
  // and 1.5 % above the minimum for the step of the scan.
  EXPECT_NEAR(error(8, 1000), 0.0405, 0.0002);
  EXPECT_NEAR(error(16, 1000), 0.0163, 0.0002);
}

TEST(BestLinearSpacing, IsNoWorseThanTheTableWhereThatIsFarFromTheBest) {
  EXPECT_LE(error(32, 100000), 2.1e-2);
  EXPECT_LE(error(64, 100000), 1.4e-2);
  EXPECT_LE(error(64, 1000), 1.3e-3);
}

TEST(BestLinearSpacing, FarBelowS4DRealsOne) {
  EXPECT_LT(best_linear_spacing(16, 100000, 0.5), 0.01);
}

TEST(BestLinearSpacing, RefusesWhatHasNone) {
  expect_refusal([] { best_linear_spacing(0, 100, 0.5); }, {"count is 0"});
  expect_refusal([] { best_linear_spacing(4, -1, 0.5); }, {"horizon is -1"});
  expect_refusal([] { best_linear_spacing(4, 100, 0.0); }, {"beta is 0"});
}

}  // namespace
