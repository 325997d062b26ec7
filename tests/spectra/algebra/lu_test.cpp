// LU solves a system and its transpose, whatever the order of the rows.
// SPDX-License-Identifier: MIT
#include "wane/spectra/algebra/lu.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "wane/spectra/rates/random.hpp"

namespace {

using wane::spectra::impl::lu;

TEST(Lu, SolvesASystemThatNeedsItsRowsExchanged) {
  lu const factors({0, 2, 1, 0}, 2);  // 2 y = 4, x = 3
  EXPECT_EQ(factors.solve({4, 3}), (std::vector<double>{3, 2}));
  EXPECT_EQ(factors.solve_transposed({3, 4}), (std::vector<double>{2, 3}));
}

TEST(Lu, SolvesRandomSystemsAndTheirTransposes) {
  std::mt19937_64 bits(3);
  for (std::size_t size : {1U, 2U, 3U, 17U, 64U}) {
    std::vector<double> matrix(size * size);
    std::vector<double> right(size);
    for (double& entry : matrix) entry = wane::spectra::unit_uniform(bits) - 0.5;
    for (double& entry : right) entry = wane::spectra::unit_uniform(bits) - 0.5;
    lu const factors(matrix, size);
    auto const x = factors.solve(right);
    auto const y = factors.solve_transposed(right);
    for (std::size_t i = 0; i < size; ++i) {
      double forward = -right[i];
      double transposed = -right[i];
      double scale = 1;  // backward stable: epsilon times size times the terms summed
      for (std::size_t j = 0; j < size; ++j) {
        forward += matrix[i * size + j] * x[j];
        transposed += matrix[j * size + i] * y[j];
        scale += std::abs(x[j]) + std::abs(y[j]);
      }
      EXPECT_NEAR(forward, 0, 1e-14 * scale);
      EXPECT_NEAR(transposed, 0, 1e-14 * scale);
    }
  }
}

TEST(Lu, GivesNoFiniteSolutionOfASingularSystem) {
  EXPECT_FALSE(std::isfinite(lu({1, 2, 2, 4}, 2).solve({1, 1})[1]));
}

}  // namespace
