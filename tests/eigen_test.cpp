// Views of matrices: every Eigen object that lies in memory, in either order, to read or to write.
// SPDX-License-Identifier: MIT
#include "wane/eigen.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "support/expect_error.hpp"
#include "wane/operators/linear_recurrence.hpp"
#include "wane/run/run.hpp"

namespace {

using wane::index;
using row_major = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class Dense>
void expect_same_elements(Dense&& values) {
  auto const seen = wane::as_sequence(values);
  EXPECT_EQ(seen.extent[0], 1);
  EXPECT_EQ(seen.extent[1], values.rows());
  EXPECT_EQ(seen.extent[2], 1);
  EXPECT_EQ(seen.extent[3], values.cols());
  for (Eigen::Index t = 0; t < values.rows(); ++t)
    for (Eigen::Index c = 0; c < values.cols(); ++c) {
      EXPECT_EQ(&seen(0, t, 0, c), &values.coeffRef(t, c)) << t << ", " << c;
    }
}

TEST(Eigen, MatricesAndArraysOfEitherOrderAreSequences) {
  Eigen::MatrixXd columns(5, 3);
  row_major rows(5, 3);
  Eigen::ArrayXXf array(4, 7);
  Eigen::Matrix<float, 2, 3> fixed;
  Eigen::MatrixXcd complex(3, 2);
  expect_same_elements(columns);
  expect_same_elements(rows);
  expect_same_elements(array);
  expect_same_elements(fixed);
  expect_same_elements(complex);
}

// Rows are the tokens of one sequence after the other, columns the channels of one head after the
// other.
TEST(Eigen, MatricesHaveBatchesAndHeads) {
  Eigen::MatrixXf columns(6, 8);
  row_major rows(6, 8);
  auto const expect = [](auto&& matrix, auto const& seen, index batch, index heads) {
    index const time = matrix.rows() / batch, channels = matrix.cols() / heads;
    EXPECT_EQ(std::vector<index>(seen.extent, seen.extent + 4),
              (std::vector<index>{batch, time, heads, channels}));
    for (index r = 0; r < matrix.rows(); ++r)
      for (index c = 0; c < matrix.cols(); ++c)
        EXPECT_EQ(&seen(r / time, r % time, c / channels, c % channels), &matrix.coeffRef(r, c));
  };
  expect(columns, wane::in_heads(columns, 2, 4), 2, 4);
  expect(rows, wane::in_heads(rows, 3, 2), 3, 2);
  expect(rows.middleCols(1, 6), wane::in_heads(rows.middleCols(1, 6), 2, 3), 2, 3);
  auto const each = wane::by_head(rows.rightCols(4), 2);
  EXPECT_EQ(&each(1, 2, 3), &rows(5, 7));
  static_assert(std::is_same_v<decltype(wane::by_head(std::as_const(columns), 2)),
                               wane::token_view<float const>>);
  support::expect_error({"rows 6", "multiple of batch, 4"}, [&] { wane::by_head(rows, 4); });
  support::expect_error({"columns 8", "multiple of heads, 3"}, [&] { wane::in_heads(rows, 2, 3); });
  support::expect_error({"multiple of batch, 0"}, [&] { wane::in_heads(rows, 0, 2); });
}

TEST(Eigen, VectorsAreOneChannelOrOneToken) {
  Eigen::VectorXd series(9);
  Eigen::RowVectorXd token(9);
  expect_same_elements(series);
  expect_same_elements(token);
  EXPECT_EQ(wane::as_sequence(series).extent[1], 9);
  EXPECT_EQ(wane::as_sequence(token).extent[3], 9);
}

TEST(Eigen, BlocksMapsRefsAndTransposesKeepTheirStrides) {
  Eigen::MatrixXd columns(8, 6);
  row_major rows(8, 6);
  expect_same_elements(columns.block(1, 2, 4, 3));
  expect_same_elements(rows.block(1, 2, 4, 3));
  expect_same_elements(rows.col(2));
  expect_same_elements(columns.row(2));
  expect_same_elements(columns.transpose());
  expect_same_elements(rows.transpose());
  expect_same_elements(Eigen::Ref<Eigen::MatrixXd>(columns.leftCols(2)));
  std::vector<float> numbers(60);
  using strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  Eigen::Map<Eigen::MatrixXf, 0, strides> every_other(numbers.data(), 5, 3, strides(20, 2));
  expect_same_elements(every_other);
  EXPECT_EQ(wane::as_sequence(every_other).stride[1], 2);
  EXPECT_EQ(wane::as_sequence(every_other).stride[3], 20);
}

TEST(Eigen, WhatMayNotBeWrittenGivesAViewToRead) {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Ones(2, 2);
  Eigen::MatrixXd const& constant = matrix;
  Eigen::Map<Eigen::MatrixXd const> map(matrix.data(), 2, 2);
  using read = wane::sequence_view<double const>;
  using write = wane::sequence_view<double>;
  static_assert(std::is_same_v<decltype(wane::as_sequence(matrix)), write>);
  static_assert(std::is_same_v<decltype(wane::as_sequence(matrix.leftCols(1))), write>);
  static_assert(std::is_same_v<decltype(wane::as_sequence(constant)), read>);
  static_assert(std::is_same_v<decltype(wane::as_sequence(constant.row(1))), read>);
  static_assert(std::is_same_v<decltype(wane::as_sequence(map)), read>);
  EXPECT_EQ(wane::as_sequence(map)(0, 1, 0, 1), 1);
}

TEST(Eigen, MatricesGoStraightIntoARun) {
  constexpr int tokens = 50, channels = 3;
  Eigen::MatrixXd const log_decay = -Eigen::MatrixXd::Random(tokens, channels).cwiseAbs();
  row_major const drive = row_major::Random(tokens, channels);
  row_major output(tokens, channels);
  Eigen::MatrixXd other(tokens, channels);
  wane::linear_recurrence<wane::decay_as::log, double> const op(
      {.decay = wane::as_sequence(log_decay), .drive = wane::as_sequence(drive)});
  wane::run(op, wane::as_sequence(output));
  wane::run(op, wane::as_sequence(other));
  Eigen::RowVectorXd h = Eigen::RowVectorXd::Zero(channels);
  for (int t = 0; t < tokens; ++t) {
    h = (log_decay.row(t).array().exp() * h.array()).matrix() + drive.row(t);
    // Fifty roundings at most, of states below fifty.
    EXPECT_LT((output.row(t) - h).cwiseAbs().maxCoeff(), 1e-14 * 50);
    EXPECT_LT((other.row(t) - h).cwiseAbs().maxCoeff(), 1e-14 * 50);
  }
}

}  // namespace
