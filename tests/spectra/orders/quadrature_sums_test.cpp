// VORT's quadratures: where they are right, and how far from the fewest terms.
// SPDX-License-Identifier: MIT
#include "wane/spectra/orders/quadrature_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "spectra/expect_refusal.hpp"

namespace {

using namespace wane::spectra;

double worst_of(exponential_sum const& sum, double alpha, std::int64_t last) {
  gruenwald_letnikov const kernel(alpha);
  double worst = 0;
  for (std::int64_t lag = 1; lag <= last; ++lag)
    worst = std::max(worst, std::abs(sum(lag) / kernel(lag) - 1));
  return worst;
}
double relative_error(std::int64_t terms, range limits, double alpha) {
  auto const sum = gauss_legendre_sum(gruenwald_letnikov(alpha), terms, limits);
  EXPECT_EQ(sum.terms(), static_cast<std::size_t>(terms));
  return worst_of(sum, alpha, 1000);
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

TEST(GaussJacobiSum, IsExactOnTheFirstLagsAndLostFarOut) {
  for (double alpha : {0.1, 0.5, 0.9}) {
    auto const sum = gauss_jacobi_sum(gruenwald_letnikov(alpha), 20);
    EXPECT_LE(worst_of(sum, alpha, 39), 1e-12);
    double weights = 0;
    for (double weight : sum.weights) weights += weight;
    EXPECT_NEAR(weights, 1, 1e-13);  // lag 0
    EXPECT_GT(worst_of(sum, alpha, 4000), 0.3);
  }
  // Measured apart, for alpha 0.5 and 1000 lags: 1.5e-7 with 64 nodes, 3e-2 with 32 (one digit).
  EXPECT_NEAR(worst_of(gauss_jacobi_sum(gruenwald_letnikov(0.5), 64), 0.5, 1000), 1.5e-7, 0.05e-7);
  EXPECT_NEAR(worst_of(gauss_jacobi_sum(gruenwald_letnikov(0.5), 32), 0.5, 1000), 3e-2, 0.5e-2);
}

TEST(GaussLaguerreSum, IsRightNearbyAndLostFarOut) {
  auto const sum = gauss_laguerre_sum(gruenwald_letnikov(0.5), 40);
  EXPECT_LE(worst_of(sum, 0.5, 4), 1e-3);
  EXPECT_GT(worst_of(sum, 0.5, 1000), 0.5);
  expect_refusal([] { (void)gauss_laguerre_sum(gruenwald_letnikov(1), 4); }, {"alpha is 1"});
  expect_refusal([] { (void)gauss_jacobi_sum(gruenwald_letnikov(0.5), 0); }, {"terms is 0"});
}

}  // namespace
