// VLA's Algorithm 1 of wane-claims: against vla where they coincide, and its ablations.
// SPDX-License-Identifier: MIT
#include "claims/vla_algorithm.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "claims/vla_memory.hpp"

namespace wane::bench {
namespace {

constexpr index width = 6;
vla_tokens const x(drawn::projected, 50, width, 1);

matrix penalty(vla_algorithm const& memory) { return memory.inverse.inverse(); }

// Without the refresh it is vla's rule unit, of given directions.
TEST(VlaAlgorithm, IsVlaWhereTheyCoincide) {
  double const length = as_printed(width).length;
  auto const right = held_by_vla<write_rule::unit>(
      x.key, x.value, {.lambda = 0.1, .length = length}, x.query, x.direction);
  vector key_sum = vector::Zero(width);
  auto const memory = after_all(
      {.length = length}, x.key, x.direction, x.value, [&](vla_algorithm const& after, index t) {
        vector const q = x.query.row(t);
        key_sum += x.key.row(t);
        vector const y = after.read(q) * key_sum.dot(q) / q.norm();
        EXPECT_LT((y - right.output.row(t).transpose()).norm(), 1e-11) << t;
      });
  EXPECT_LT((memory.state - right.state.transpose()).norm(), 1e-11);
  EXPECT_LT((penalty(memory) - right.factor.transpose() * right.factor).norm(), 1e-11);
}

// Directions of zero leave A to the refresh.
TEST(VlaAlgorithm, RefreshesEveryTwentyTokens) {
  matrix const one = matrix::Identity(width, width), none = matrix::Zero(50, width);
  after_all({.period = 20, .eta = 0.5}, x.key, none, x.value,
            [&](vla_algorithm const& memory, index t) {
              EXPECT_EQ(memory.inverse, (10 + 0.5 * static_cast<double>((t + 1) / 20)) * one) << t;
            });
  EXPECT_EQ(after_all({}, x.key, none, x.value).inverse, 10 * one);
  // Before the token writes: so large a refresh makes A k go along k.
  vla_algorithm const refreshed = after_all({.period = 50, .eta = 1e15}, x);
  EXPECT_LT((refreshed.write - refreshed.key).norm(), 1e-12);
}

TEST(VlaAlgorithm, LeavesOutWhatItIsTold) {
  matrix const one = matrix::Identity(width, width);
  EXPECT_EQ(after_all({.lambda = 0.25, .adapts = false}, x).inverse, 4 * one);
  vector const features = x.key.row(49);
  EXPECT_EQ(after_all({.unit_keys = false}, x).key, features);
  EXPECT_NEAR(after_all({}, x).key.norm(), 1, 1e-14);
  EXPECT_NEAR(after_all({}, x).write.norm(), 1, 1e-14);
  vla_algorithm const plain = after_all({.unit_writes = false}, x);
  EXPECT_LT((plain.write - plain.inverse * plain.key).norm(), 1e-14);
  EXPECT_LT((plain.jacobian() - one + plain.write * plain.key.transpose()).norm(), 1e-14);
}

// delta = 1 + u A u with A = I / lambda, unless the floor is above it; as for what outputs are
// divided by.
TEST(VlaAlgorithm, KeepsWhatItDividesByAboveTheFloor) {
  auto const first = [](double floor) {
    return after_all({.lambda = 0.5, .length = 2, .floor = floor}, x.key.topRows(1),
                     x.direction.topRows(1), x.value.topRows(1));
  };
  EXPECT_NEAR(first(1e-4).least_delta, 1 + 4 / 0.5, 1e-13);
  EXPECT_EQ(first(100).least_delta, 100);
  EXPECT_NEAR(2 * width - first(100).inverse.trace(), 16 / 100., 1e-13);
  vector const q = x.query.row(0), y = first(1e-4).read(q);
  EXPECT_LT((first(1e9).read(q) * 1e9 - first(1e9).state * q).norm(), 1e-11);
  EXPECT_LT((y * x.key.row(0).dot(q) - first(1e-4).state * q).norm(), 1e-12);
}

TEST(NormalNumbers, HaveTheMomentsOfTheirLaw) {
  std::mt19937_64 bits(1);
  constexpr index count = 1000;
  auto const z = normal_numbers(count, count, bits).array().eval();
  // Five standard errors of a million draws.
  EXPECT_NEAR(z.mean(), 0, 5e-3);
  EXPECT_NEAR(z.square().mean(), 1, 5e-3 * std::sqrt(2.));
  EXPECT_NEAR(z.pow(4).mean(), 3, 5e-3 * std::sqrt(96.));
  EXPECT_NEAR((z.leftCols(count - 1) * z.rightCols(count - 1)).mean(), 0, 5e-3);
}

}  // namespace
}  // namespace wane::bench
