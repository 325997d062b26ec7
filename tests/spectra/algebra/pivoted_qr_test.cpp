// Pivoted QR: orthonormal, of the right rank, largest part first, and invertible.
// SPDX-License-Identifier: MIT
#include "wane/spectra/algebra/pivoted_qr.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace {

using wane::spectra::impl::dot;
using wane::spectra::impl::pivoted_qr;

TEST(PivotedQr, TakesTheLongestPartThatIsLeft) {
  pivoted_qr const qr({1, 0, 0, /**/ 3, 0, 0, /**/ 5, 2, 0, /**/ 0, 0, 1}, 3);
  ASSERT_EQ(qr.rank(), 3U);
  EXPECT_EQ(qr.pivot(0), 2U);  // length 5.4; of the others 1.1, 1, 0.4 are left
  EXPECT_EQ(qr.pivot(1), 1U);
  EXPECT_EQ(qr.pivot(2), 3U);
}

TEST(PivotedQr, StopsAtTheRank) {
  EXPECT_EQ(pivoted_qr({1, 2, /**/ 2, 4, /**/ -1, -2}, 2, 1e-14).rank(), 1U);
  EXPECT_EQ(pivoted_qr({0, 0, /**/ 0, 0}, 2).rank(), 0U);
  EXPECT_EQ(pivoted_qr({1, 2, /**/ 2, 1, /**/ -1, 3}, 2).rank(), 2U);
}

TEST(PivotedQr, OfNearlyParallelColumnsIsOrthonormalToRounding) {
  // Parts of 1e-12: made orthogonal once, the second column would be off by 1e-4.
  std::vector<double> columns(3 * 50);
  for (std::size_t i = 0; i < 50; ++i) {
    auto const x = static_cast<double>(i);
    columns[i] = 1;
    columns[50 + i] = 1 + 1e-12 * x;
    columns[100 + i] = 1 - 1e-12 * x * x;
  }
  pivoted_qr const qr(columns, 50, 1e-14);
  ASSERT_EQ(qr.rank(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      EXPECT_NEAR(dot(qr.column(i), qr.column(j)), i == j ? 1 : 0, 1e-14);
}

TEST(PivotedQr, GivesBackTheCombinationOfColumns) {
  std::vector<double> const columns = {2, 1, 0, /**/ 1, 3, 1, /**/ 0, 1, 4};
  pivoted_qr const qr(columns, 3);
  std::vector<double> const coefficients = {1, -2, 3};
  auto const x = qr.back_substitute(coefficients);
  for (std::size_t row = 0; row < 3; ++row) {
    double from_columns = 0;
    double from_basis = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      from_columns += x[j] * columns[3 * j + row];
      from_basis += coefficients[j] * qr.column(j)[row];
    }
    EXPECT_NEAR(from_columns, from_basis, 1e-14);
  }
}

}  // namespace
