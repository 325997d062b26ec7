// Least squares are those of Eigen, of columns that depend on one another too.
// SPDX-License-Identifier: MIT
#include "wane/spectra/algebra/least_squares.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <tuple>

namespace wane::spectra {
namespace {

using matrix = Eigen::MatrixXd;
using vector = Eigen::VectorXd;

TEST(LeastSquares, AreThoseOfEigen) {
  std::srand(5);
  for (auto const& [rows, columns] : {std::tuple{1, 1}, {7, 3}, {20, 20}, {200, 60}}) {
    matrix const a = matrix::Random(rows, columns);
    vector const b = vector::Random(rows);
    vector const wanted = a.colPivHouseholderQr().solve(b), found = impl::least_squares(a).solve(b);
    EXPECT_LT((found - wanted).norm(), 1e-11 * wanted.norm()) << rows << " x " << columns;
  }
}

TEST(LeastSquares, LeaveOutsideWhatNoColumnReaches) {
  std::srand(7);
  matrix const a = matrix::Random(40, 9);
  impl::least_squares const fit(a);
  vector const b = vector::Random(40), c = vector::Random(40);
  EXPECT_LT(fit.outside(a * vector::Random(9)).norm(), 1e-13);
  EXPECT_NEAR(fit.outside(b).norm(), (b - a * fit.solve(b)).norm(), 1e-13);
  EXPECT_NEAR(fit.outside(b).dot(fit.outside(c)), b.dot(c - a * fit.solve(c)), 1e-12);
}

TEST(LeastSquares, OfDependentColumnsAreAsNear) {
  std::srand(9);
  matrix a = matrix::Random(30, 6);
  a.col(4) = 2 * a.col(1) - a.col(3);
  vector const b = vector::Random(30);
  impl::least_squares const fit(a);
  vector const found = fit.solve(b);
  EXPECT_TRUE(found.allFinite());
  matrix others(30, 5);
  others << a.leftCols(4), a.col(5);
  vector const rest = b - others * others.colPivHouseholderQr().solve(b);
  EXPECT_NEAR((b - a * found).norm(), rest.norm(), 1e-12);
  EXPECT_NEAR(fit.outside(b).norm(), rest.norm(), 1e-12);
}

}  // namespace
}  // namespace wane::spectra
