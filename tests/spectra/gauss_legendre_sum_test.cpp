// VORT's quadrature: right in the limit, and far from the fewest terms before it.
// SPDX-License-Identifier: MIT
#include "wane/spectra/gauss_legendre_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "expect_refusal.hpp"
#include "wane/spectra/gruenwald_letnikov.hpp"

namespace {

using namespace wane::spectra;

double relative_error(std::int64_t terms, range limits, double alpha) {
  gruenwald_letnikov const kernel(alpha);
  auto const sum = gauss_legendre_sum(kernel, terms, limits);
  EXPECT_EQ(sum.terms(), static_cast<std::size_t>(terms));
  double worst = 0;
  for (std::int64_t lag = 1; lag <= 1000; ++lag)
    worst = std::max(worst, std::abs(sum(lag) / kernel(lag) - 1));
  return worst;
}

TEST(GaussLegendreSum, ConvergesToTheKernel) {
  for (double alpha : {0.1, 0.5}) {
    EXPECT_LE(relative_error(200, {1e-28, 60}, alpha), 1e-10);
    EXPECT_GT(relative_error(20, {1e-28, 60}, alpha), 1e-3);
  }
}

TEST(GaussLegendreSum, NeedsMoreTermsThanTheClosedForm) {
  // 16, 28 and 40 terms for 1e-2, 1e-3 and 1e-4 even with the best limits, where 6, 9 and 10 do.
  for (double eps : {1e-2, 1e-3, 1e-4})
    EXPECT_GT(relative_error(15, vort_range(1000, eps), 0.5), 1e-2);
}

TEST(GaussLegendreSum, TakesThePaperLimits) {
  auto const limits = vort_range(1000, 0.01);
  EXPECT_DOUBLE_EQ(limits.low, 0.01 / 2000);
  EXPECT_DOUBLE_EQ(limits.high, 2 * std::log(200000));
  expect_refusal([] { (void)vort_range(1000, 0); }, {"accuracy is 0"});
  expect_refusal(
      [] {
        (void)gauss_legendre_sum(gruenwald_letnikov(0.5), 0, {1, 2});
      },
      {"terms is 0"});
  expect_refusal(
      [] {
        (void)gauss_legendre_sum(gruenwald_letnikov(0.5), 3, {2, 1});
      },
      {"limits are 2 and 1"});
}

}  // namespace
