// The adjoint with resets, NaN before a reset, exact ones and zeros, denormals and long sequences.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>

#include "support/linear_gradients.hpp"

namespace {

using support::index;
using support::linear_gradients;
using support::linear_shape;
using wane::decay_as;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

linear_shape shape(index columns) { return {.time = 70, .columns = columns}; }

TEST(AdjointHardInputs, AResetStopsNaNOfEarlierDrivesAndLaterGradientsForTheirNeighbours) {
  for (index columns : {1, 5, 9})
    for (double bad : {nan, infinity}) {
      linear_gradients<decay_as::log, double> spoiled(shape(columns)), clean(shape(columns));
      for (auto* g : {&spoiled, &clean})
        for (index t : {20, 40}) (*g).run.decay(0, t, 0, 0) = -infinity;
      spoiled.run.drive(0, 10, 0, 0) = bad;        // before the first reset
      spoiled.output_gradient(0, 50, 0, 0) = bad;  // after the second
      spoiled.find();
      clean.find();
      // Vectors of tokens round by themselves, and a block with a bad value goes token by token.
      double const rounding = columns == 1 ? 1e-14 : 0;
      for (index t = 0; t < 70; ++t)
        for (index c = 0; c < columns; ++c) {
          // A bad value does not reach channel 0 between the resets, or any other channel.
          bool const untouched = c > 0 || (t >= 20 && t < 40);
          if (untouched) {
            EXPECT_NEAR(spoiled.decay(0, t, 0, c), clean.decay(0, t, 0, c), rounding)
                << t << ", " << c;
          }
          // A drive's gradient depends on later tokens only, not on drives.
          if (untouched || t < 40) {
            EXPECT_NEAR(spoiled.drive(0, t, 0, c), clean.drive(0, t, 0, c), rounding)
                << t << ", " << c;
          }
        }
      for (std::size_t c = 0; c < clean.initial.values().size(); ++c)
        EXPECT_NEAR(spoiled.initial.values()[c], clean.initial.values()[c], rounding);
    }
}

TEST(AdjointHardInputs, ByALogDecayOfMinusInfinityIsZero) {
  linear_gradients<decay_as::log, double> g(shape(3));
  g.run.decay.fill([](auto...) { return -infinity; });
  g.find();
  g.decay.for_each([&](index b, index t, index h, index c) {
    EXPECT_EQ(g.decay(b, t, h, c), 0);
    EXPECT_EQ(g.drive(b, t, h, c), t == 69
                                       ? g.output_gradient(b, t, h, c) +
                                             g.final_gradient.values()[static_cast<std::size_t>(c)]
                                       : g.output_gradient(b, t, h, c));
  });
  for (double x : g.initial.values()) EXPECT_EQ(x, 0);
}

TEST(AdjointHardInputs, ByAFactorOfExactlyZeroIsTheStateBefore) {
  for (index columns : {1, 9}) {
    linear_gradients<decay_as::factor, double> g(shape(columns));
    g.run.decay.fill([](index, index t, index, index) { return t % 5 == 0 ? 0. : -1.; });
    g.find();
    EXPECT_LT(g.error(), 1e-9);
  }
}

TEST(AdjointHardInputs, OfOnesAndTinyLogsIsTheDerivative) {
  for (double log : {0., -1e-300, -5e-324, -1e-12}) {
    linear_gradients<decay_as::log, double> g(shape(9));
    g.run.decay.fill([&](auto...) { return log; });
    g.find();
    EXPECT_LT(g.error(), 1e-9) << log;
  }
}

TEST(AdjointHardInputs, NaNOfAnInputReachesOnlyWhatDependsOnIt) {
  for (index columns : {1, 9}) {
    linear_gradients<decay_as::log, double> g(shape(columns));
    g.run.decay.fill([](auto...) { return -0.1; });
    g.output_gradient(0, 30, 0, 0) = nan;
    g.find();
    for (index t = 0; t < 70; ++t)
      for (index c = 0; c < columns; ++c)
        EXPECT_EQ(std::isnan(g.drive(0, t, 0, c)), c == 0 && t <= 30) << t << ", " << c;
  }
}

TEST(AdjointHardInputs, OfFloatsOverLongSequencesGrowsWithTheRootOfTheMemory) {
  // Against the adjoint in double on the same numbers.
  index const time = 20000;
  for (double log : {-1e-9, -1e-3}) {
    linear_gradients<decay_as::log, float> single({.time = time, .columns = 5});
    linear_gradients<decay_as::log, double> exact({.time = time, .columns = 5});
    single.run.decay.fill([&](auto...) { return log; });
    exact.run.decay.fill([&](auto...) { return static_cast<double>(static_cast<float>(log)); });
    exact.run.drive.fill(
        [&](index b, index t, index h, index c) { return single.run.drive(b, t, h, c); });
    exact.output_gradient.fill(
        [&](index b, index t, index h, index c) { return single.output_gradient(b, t, h, c); });
    for (std::size_t c = 0; c < 5; ++c) {
      exact.run.initial.values()[c] = static_cast<double>(single.run.initial.values()[c]);
      exact.final_gradient.values()[c] = static_cast<double>(single.final_gradient.values()[c]);
    }
    single.find();
    exact.find();
    support::nearness drive, decay;
    exact.drive.for_each([&](index b, index t, index h, index c) {
      drive.add(static_cast<double>(single.drive(b, t, h, c)), exact.drive(b, t, h, c));
      decay.add(static_cast<double>(single.decay(b, t, h, c)), exact.decay(b, t, h, c));
    });
    double const memory = std::min(static_cast<double>(time), -1 / std::expm1(log));
    EXPECT_LT(drive.both(), 3 * 6e-8 * std::sqrt(memory)) << log;
    EXPECT_LT(decay.both(), 2 * 3 * 6e-8 * std::sqrt(memory)) << log;  // state and cotangent
  }
}

}  // namespace
