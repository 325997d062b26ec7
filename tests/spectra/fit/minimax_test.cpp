// That the exchange ends at the best fit there is: alternation, duality, a known answer.
// SPDX-License-Identifier: MIT
#include "wane/spectra/fit/minimax.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "wane/spectra/fit/kernels.hpp"
#include "wane/spectra/fit/lags.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"
#include "wane/spectra/rates/geometric.hpp"
#include "wane/spectra/rates/linear.hpp"
#include "wane/spectra/rates/random.hpp"

namespace {

using namespace wane::spectra;
using namespace wane::spectra::impl;

std::vector<double> ones(std::size_t count) { return std::vector<double>(count, 1.0); }

TEST(Minimax, OfOneExponentialOnTwoLagsIsTheTextbookAnswer) {
  // c e^{-l} against (1, 0) on lags 1, 2: errors of one size, opposite: 1 - c/e = c/e^2.
  exponential_basis const basis({1}, {1, 2}, ones(2));
  auto const solution = minimax(basis, {1, 0});
  double const c = 1 / (std::exp(-1) + std::exp(-2));
  EXPECT_NEAR(basis.weights(solution.coefficients)[0], c, 1e-14);
  EXPECT_NEAR(solution.error, c * std::exp(-2), 1e-15);
  EXPECT_NEAR(solution.lower_bound, solution.error, 1e-15);
}

TEST(Minimax, ErrorAlternatesAtOneSizeOnOneMoreLagThanThereAreRates) {
  // Chebyshev's theorem: this alone proves the fit the best. Error 1.5e-5; rounding 1e-15 of one.
  auto const lags = fitting_lags(100000);
  auto const target = values_at(power_law(0.5), lags);
  exponential_basis const basis(geometric(16, 0.8e-5, 3), lags, ones(lags.size()));
  auto const solution = minimax(basis, target);
  auto const error = residual(basis, solution.coefficients, target);
  ASSERT_EQ(solution.reference.size(), 17U);
  for (std::size_t i = 0; i < 17; ++i) {
    double const at = error[solution.reference[i]];
    EXPECT_NEAR(std::abs(at), solution.error, 1e-6 * solution.error);
    if (i > 0) {
      EXPECT_LT(at * error[solution.reference[i - 1]], 0);
    }
  }
}

TEST(Minimax, MeetsItsOwnLowerBoundOnHundredsOfSpectra) {
  // The bound is weak duality, which needs no theorem: y orthogonal to the span. Checked here from
  // scratch below. 1e-13 of the target is rounding; 1 % is the promise, 1e-6 the usual.
  std::mt19937_64 bits(11);
  for (int i = 0; i < 400; ++i) {
    double const horizon = std::exp(unit_uniform(bits) * std::log(1e7));
    auto const lags = log_spaced_lags(static_cast<std::int64_t>(horizon), 60, 240);
    auto const count = static_cast<std::int64_t>(1 + bits() % 40);
    auto target = values_at(gruenwald_letnikov(0.05 + 0.9 * unit_uniform(bits)), lags);
    auto scale = ones(lags.size());
    if (i % 2 == 0)
      for (std::size_t l = 0; l < lags.size(); ++l) {
        scale[l] = 1 / target[l];
        target[l] = 1;
      }
    double const low = 0.1 * std::exp(8 * unit_uniform(bits) - 5) / horizon;
    std::vector<double> rates = geometric(count, low, std::exp(4 * unit_uniform(bits)));
    if (i % 3 == 1) rates = random_log_uniform(count, lags.back(), bits());
    if (i % 3 == 2) rates = linear(count, 4 * std::pow(horizon, -unit_uniform(bits)));
    auto const solution = minimax(exponential_basis(rates, lags, scale), target);
    EXPECT_LE(solution.error, std::max(1e-13, 1.01 * solution.lower_bound))
        << "case " << i << ", T = " << lags.back() << ", N = " << count;
  }
}

TEST(Minimax, LowerBoundHoldsForEveryOtherFit) {
  // No fit near the best one, and none at random, may beat the bound.
  auto const lags = fitting_lags(1000);
  auto const target = values_at(power_law(0.5), lags);
  exponential_basis const basis(geometric(8, unit_range(1000)), lags, ones(lags.size()));
  auto const solution = minimax(basis, target);
  std::mt19937_64 bits(2);
  for (int i = 0; i < 2000; ++i) {
    double const size = std::pow(10.0, -8 * unit_uniform(bits));
    auto coefficients = solution.coefficients;
    for (double& c : coefficients) c += size * (unit_uniform(bits) - 0.5);
    auto const error = residual(basis, coefficients, target);
    EXPECT_GE(std::abs(error[index_of_largest(error)]), solution.lower_bound * (1 - 1e-12));
  }
}

TEST(Minimax, OnAsManyLagsAsRatesIsExact) {
  std::vector<std::int64_t> const lags = {1, 2, 3, 4};
  exponential_basis const basis(geometric(4, 0.2, 2), lags, ones(4));
  EXPECT_LT(minimax(basis, {1, -2, 3, -4}).error, 1e-13);
}

TEST(Minimax, OfNothingIsNothing) {
  std::vector<std::int64_t> const lags = {1, 2, 3, 4};
  auto const zero = minimax(exponential_basis({0.5}, lags, ones(4)), {0, 0, 0, 0});
  EXPECT_EQ(zero.error, 0.0);
  EXPECT_EQ(zero.coefficients, std::vector<double>{0});
  auto const empty = minimax(exponential_basis({1e9}, lags, ones(4)), {1, -2, 0, 0});
  EXPECT_EQ(empty.error, 2.0);
  EXPECT_EQ(empty.lower_bound, 2.0);
}

}  // namespace
