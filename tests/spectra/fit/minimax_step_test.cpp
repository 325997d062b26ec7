// The step that makes the largest error least: against what is known, and against all other steps.
// SPDX-License-Identifier: MIT
#include "wane/spectra/fit/minimax_step.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cstdlib>

namespace {

using wane::spectra::impl::minimax_step;
using vector = Eigen::VectorXd;
using matrix = Eigen::MatrixXd;

TEST(MinimaxStep, OfAConstantIsHalfway) {
  vector const errors{{-3, 1, 5, 2}};
  matrix const slopes = matrix::Ones(4, 1);
  vector const low = vector::Constant(1, -10), high = -low;
  minimax_step const best(errors, slopes, low, high);
  EXPECT_DOUBLE_EQ(best.step()(0), -1);
  EXPECT_DOUBLE_EQ(best.error(), 4);
  // The two that hold each other, half each.
  EXPECT_EQ(best.multipliers(), (vector{{-0.5, 0, 0.5, 0}}));
}

TEST(MinimaxStep, StaysInTheBox) {
  vector const errors{{-3, 1, 5, 2}};
  matrix const slopes = matrix::Ones(4, 1);
  vector const low = vector::Constant(1, -0.25), high = -low;
  minimax_step const best(errors, slopes, low, high);
  EXPECT_DOUBLE_EQ(best.step()(0), -0.25);
  EXPECT_DOUBLE_EQ(best.error(), 4.75);
}

TEST(MinimaxStep, OfPolynomialsIsChebyshevs) {
  // x^4 - x^2 + 1/8 = T_4 / 8 is the least that x^4 and a cubic can be on -1..1.
  Eigen::Index const points = 2001;
  vector const x = vector::LinSpaced(points, -1, 1);
  vector const errors = x.array().pow(4);
  matrix slopes(points, 4);
  for (Eigen::Index j = 0; j < 4; ++j) slopes.col(j) = x.array().pow(static_cast<double>(j));
  vector const low = vector::Constant(4, -10), high = -low;
  minimax_step const best(errors, slopes, low, high);
  // The points miss the extrema of T_4 by h / 2 = 5e-4 at the most: T_4'' is 32 there or less.
  EXPECT_NEAR(best.error(), 0.125, 32 * 5e-4 * 5e-4 / 2 / 8);
  EXPECT_NEAR(best.step()(2), -1, 1e-4);
}

// By duality: multipliers of length 1 at right angles to all free slopes prove that no step has a
// smaller error.
TEST(MinimaxStep, ProvesItsError) {
  std::srand(1);  // Eigen's Random
  for (Eigen::Index size = 1; size <= 50; ++size) {
    Eigen::Index const rows = 3 + size, columns = 1 + size % 9;
    matrix const slopes = matrix::Random(rows, columns);
    vector const errors = vector::Random(rows);
    vector const low = vector::Constant(columns, -0.2), high = vector::Constant(columns, 0.1);
    minimax_step const best(errors, slopes, low, high);
    double const rounding = 1e-8;  // the slack of the method is 1e-9 of the errors, which are to 1
    EXPECT_LE((best.step() - high).maxCoeff(), rounding);
    EXPECT_LE((low - best.step()).maxCoeff(), rounding);
    EXPECT_NEAR((errors + slopes * best.step()).cwiseAbs().maxCoeff(), best.error(), rounding);
    vector const y = best.multipliers();
    EXPECT_NEAR(y.cwiseAbs().sum(), 1, rounding);
    // The least that y . (errors + slopes d) has in the box.
    double bound = y.dot(errors);
    vector const pull = slopes.transpose() * y;
    for (Eigen::Index j = 0; j < columns; ++j) bound += pull(j) * (pull(j) > 0 ? low(j) : high(j));
    EXPECT_NEAR(bound, best.error(), rounding);
    // The same from its own basis.
    minimax_step const again(errors, slopes, low, high, best.basis());
    EXPECT_NEAR(again.error(), best.error(), rounding);
  }
}

}  // namespace
