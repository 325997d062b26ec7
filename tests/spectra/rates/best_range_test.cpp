// The searched range: at least as good as every range known, and a minimum.
// SPDX-License-Identifier: MIT
#include "wane/spectra/rates/best_range.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "spectra/expect_refusal.hpp"
#include "wane/spectra/fit/fit.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"

namespace {

using namespace wane::spectra;
using namespace wane::spectra::impl;

double error(std::int64_t count, range rates, std::int64_t horizon) {
  return fit(geometric(count, rates), power_law(0.5), horizon).max_absolute_error;
}

TEST(BestRange, IsNoWorseThanTheMeasuredBest) {
  // Design table B1, whose ranges were chosen from a coarse grid by hand.
  EXPECT_LE(error(16, best_range(16, 100000, 0.5), 100000), 1.5e-5);
  EXPECT_LE(error(8, best_range(8, 100000, 0.5), 100000), 2.6e-3);
  EXPECT_LE(error(32, best_range(32, 100000, 0.5), 100000), 3.5e-10);
  EXPECT_LE(error(4, best_range(4, 1000, 0.5), 1000), 1.4e-2);
  EXPECT_LE(error(8, best_range(8, 1000, 0.5), 1000), 3.5e-4);
  EXPECT_LE(error(16, best_range(16, 1000, 0.5), 1000), 8.7e-8);
  EXPECT_LE(error(16, best_range(16, 10000, 0.5), 10000), 3.1e-6);
  EXPECT_LE(error(32, best_range(32, 10000, 0.5), 10000), 6.7e-10);
}

TEST(BestRange, BeatsThePaperRangeAtEightChannelsToo) {
  // 1.6e-4 against 3.4e-3, and 1.65e-3 against 3.2e-3: figures of a 48 x 48 scan.
  EXPECT_LE(error(8, best_range(8, 1000, 0.5), 1000), 1.65e-4);
  EXPECT_LE(error(8, best_range(8, 100000, 0.5), 100000), 1.7e-3);
}

TEST(BestRange, IsTheLowestOfADenseScan) {
  // 576 ranges around and far from it. The search sees 300 lags, this scan 1100: 3 % apart.
  for (std::int64_t count : {3, 8}) {
    std::int64_t const horizon = 10000;
    auto const lags = fitting_lags(horizon);
    auto const values = values_at(power_law(0.5), lags);
    double const found = error(count, best_range(count, horizon, 0.5), horizon);
    for (int i = 0; i < 24; ++i)
      for (int j = 0; j < 24; ++j) {
        double const low = 0.03e-4 * std::pow(1e4, i / 23.0);
        double const high = 0.15 * std::pow(150, j / 23.0);
        auto const scanned = fit(geometric(count, low, high), lags, values);
        EXPECT_GE(scanned.max_absolute_error, 0.97 * found) << count << ' ' << low << ' ' << high;
      }
  }
}

TEST(BestRange, IsFoundForOtherKernelsAndInTheRelativeMetric) {
  gruenwald_letnikov const kernel(0.3);
  auto const relative = best_range(12, 10000, kernel, metric::relative);
  double const found =
      fit(geometric(12, relative), kernel, 10000, metric::relative).max_relative_error;
  double const wide =
      fit(geometric(12, wide_range(10000)), kernel, 10000, metric::relative).max_relative_error;
  EXPECT_LT(found, wide);
  EXPECT_LT(relative.low, 2e-4);  // the whole horizon matters now
}

TEST(BestRange, IsTheSameEveryTime) {
  auto const once = best_range(5, 1000, 0.5);
  auto const again = best_range(5, 1000, 0.5);
  EXPECT_EQ(once.low, again.low);
  EXPECT_EQ(once.high, again.high);
}

TEST(BestRange, ExistsForOneChannelAndOneLag) {
  EXPECT_LT(error(1, best_range(1, 1, 0.5), 1), 1e-15);
  EXPECT_LT(error(1, best_range(1, 1000, 0.5), 1000), 0.141);  // sqrt(2)/10, of a scan
  EXPECT_LT(error(4, best_range(4, 2, 0.5), 2), 1e-14);
}

TEST(BestRange, RefusesWhatHasNone) {
  expect_refusal([] { best_range(0, 100, 0.5); }, {"count is 0"});
  expect_refusal([] { best_range(4, 0, 0.5); }, {"horizon is 0"});
  expect_refusal([] { best_range(4, 100, -1.0); }, {"beta is -1"});
  expect_refusal([] { best_range(4, 100, std::numeric_limits<double>::quiet_NaN()); },
                 {"beta is nan"});
}

}  // namespace
