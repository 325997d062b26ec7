// The orthonormal basis: orthonormal, spanning the exponentials, blind to repetitions.
// SPDX-License-Identifier: MIT
#include "wane/spectra/fit/exponential_basis.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "wane/spectra/fit/fit_error.hpp"
#include "wane/spectra/fit/lags.hpp"
#include "wane/spectra/rates/geometric.hpp"

namespace {

using namespace wane::spectra;
using namespace wane::spectra::impl;

double product(std::span<double const> a, std::span<double const> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

TEST(ExponentialBasis, IsOrthonormalHoweverParallelTheExponentials) {
  auto const lags = fitting_lags(100000);
  exponential_basis const basis(geometric(64, wide_range(100000)), lags,
                                std::vector<double>(lags.size(), 1.0));
  EXPECT_GT(basis.rank(), 40U);  // and under 64: double precision cannot tell them all apart
  EXPECT_LT(basis.rank(), 64U);
  for (std::size_t i = 0; i < basis.rank(); ++i)
    for (std::size_t j = 0; j <= i; ++j)  // Householder: a few epsilon, whatever the condition
      EXPECT_NEAR(product(basis.function(i), basis.function(j)), i == j ? 1 : 0, 1e-14);
}

TEST(ExponentialBasis, TurnsCoefficientsIntoWeightsOfTheExponentials) {
  auto const lags = fitting_lags(1000);
  auto const rates = geometric(6, 1e-3, 1);
  exponential_basis const basis(rates, lags, std::vector<double>(lags.size(), 1.0));
  ASSERT_EQ(basis.rank(), 6U);
  std::vector<double> const coefficients = {1, -2, 3, -4, 5, -6};
  auto const weights = basis.weights(coefficients);
  for (std::size_t i = 0; i < lags.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < 6; ++j) sum += coefficients[j] * basis.function(j)[i];
    EXPECT_NEAR(impulse_response(rates, weights, lags[i]), sum, 1e-12);  // condition 1e3
  }
}

TEST(ExponentialBasis, KeepsOneOfRepeatedRatesAndNoneThatDecayBeforeTheFirstLag) {
  std::vector<std::int64_t> const lags = {1, 2, 3, 4, 5, 6};
  exponential_basis const basis({0.5, 1e6, 0.5, 2, 0.5}, lags, std::vector<double>(6, 1.0));
  EXPECT_EQ(basis.rank(), 2U);
  auto const weights = basis.weights({1, 1});
  EXPECT_EQ(weights[1], 0.0);
  EXPECT_EQ((weights[0] != 0) + (weights[2] != 0) + (weights[4] != 0), 1);
}

TEST(ExponentialBasis, HasNoMoreFunctionsThanLags) {
  exponential_basis const basis(geometric(8, 0.1, 3), {1, 2, 3}, {1, 1, 1});
  EXPECT_EQ(basis.rank(), 3U);
}

}  // namespace
