// Binary Concrete: its noise, its masks, their slopes and statistics, temperatures, choices.
// SPDX-License-Identifier: MIT
#include "wane/spectra/nodes/binary_concrete.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "spectra/expect_refusal.hpp"

namespace {

using namespace wane::spectra;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::int64_t draws = 200000;

double logit_of(double alpha) { return std::log(alpha / (1 - alpha)); }

struct statistics {
  double mean = 0, above_half = 0;
};
statistics of_masks(double alpha, double temperature, std::uint64_t seed) {
  std::vector<double> const logits(draws, logit_of(alpha));
  statistics s;
  for (double m : relaxed_mask(logits, temperature, logistic_noise(draws, seed))) {
    s.mean += m / draws;
    s.above_half += (m > 0.5 ? 1. : 0.) / draws;
  }
  return s;
}

// From mt19937_64 written anew from its definition in another language, seed 7, four draws.
TEST(LogisticNoise, IsTheSameWithEveryLibrary) {
  double const from_python[] = {1.122139219956349, 2.929823953400916, -2.0171473718204087,
                                2.110433968835388};
  auto const noise = logistic_noise(4, 7);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(noise[k], from_python[k], 1e-15);
  EXPECT_EQ(logistic_noise(9, 3), logistic_noise(9, 3));
  EXPECT_NE(logistic_noise(9, 3), logistic_noise(9, 4));
}

// Moments of the logistic law: 0, pi^2/3 and 7 pi^4/15; five standard errors of the mean and of the
// variance, which are sqrt(var/n) and sqrt((fourth - var^2)/n).
TEST(LogisticNoise, HasTheMomentsOfItsLaw) {
  double const pi = std::acos(-1.), variance = pi * pi / 3, fourth = 7 * std::pow(pi, 4) / 15;
  double sum = 0, squares = 0;
  for (double g : logistic_noise(draws, 5)) {
    ASSERT_LE(std::abs(g), 36.8);
    sum += g, squares += g * g;
  }
  EXPECT_NEAR(sum / draws, 0, 5 * std::sqrt(variance / draws));
  EXPECT_NEAR(squares / draws, variance, 5 * std::sqrt((fourth - variance * variance) / draws));
}

// Five standard errors, of at most 1/2 / sqrt(n).
TEST(BinaryConcrete, IsUnbiasedWhateverItsTemperature) {
  double const bound = 5 * 0.5 / std::sqrt(draws);
  for (double temperature : {1., 0.5, 0.1, 1e-3}) {
    EXPECT_NEAR(of_masks(0.5, temperature, 1).mean, 0.5, bound) << temperature;
    for (double alpha : {0.01, 0.5, 0.9})
      EXPECT_NEAR(of_masks(alpha, temperature, 2).above_half, alpha, bound) << temperature;
  }
}

TEST(BinaryConcrete, WithoutNoiseIsASigmoid) {
  std::vector<double> const logits{-3, 0, 0.25, 2};
  auto const mask = relaxed_mask(logits, 0.5);
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_NEAR(mask[k], (1 + std::tanh(logits[k])) / 2, 1e-16);  // sigmoid(2 x)
  EXPECT_EQ(mask, relaxed_mask(logits, 0.5, std::vector<double>(4, 0.)));
  EXPECT_EQ(mask, relaxed_mask(std::vector<double>(4, 0.), 0.5, logits));  // noise is added
  EXPECT_EQ(effective_nodes(relaxed_mask(std::vector<double>{0, 0, infinite}, 1)), 2);
}

// 4th-order differences in double: rounding is 1e-13, h^4 is 1e-12 times the fifth derivative,
// which grows as 1/temperature^5.
TEST(BinaryConcrete, HasItsSlope) {
  std::vector<double> const logits{-3, -0.1, 0, 0.4, 2}, g{1, -2, 3, 0.5, 1.5};
  auto const noise = logistic_noise(5, 11);
  for (auto const& with : {noise, std::vector<double>{}})
    for (double temperature : {1., 0.5}) {
      auto const is = relaxed_mask_adjoint(logits, temperature, with, g);
      for (std::size_t k = 0; k < 5; ++k) {
        auto const at = [&](double by) {
          auto moved = logits;
          moved[k] += by;
          return g[k] * relaxed_mask(moved, temperature, with)[k];
        };
        double const h = 1e-3;
        double const slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
        EXPECT_NEAR(is[k], slope, 1e-10);
      }
    }
}

// Where the mask is 1 to all digits its slope is not 0 yet: that of -37 and of 37 is e^-37.
TEST(BinaryConcrete, KeepsTheDigitsOfItsSlopeAtBothEnds) {
  std::vector<double> const logits{-300, -37, 37, 300}, ones(4, 1.);
  EXPECT_EQ(relaxed_mask(logits, 1)[2], 1);
  auto const slope = relaxed_mask_adjoint(logits, 1, {}, ones);
  for (std::size_t k = 0; k < 4; ++k) {
    double const right = std::exp(-std::abs(logits[k]));
    EXPECT_NEAR(slope[k] / right, 1, 3e-16);
  }
}

TEST(BinaryConcrete, TakesLogitsOfAnySize) {
  std::vector<double> const logits{-infinite, -1e308, -1000, 1000, 1e308, infinite}, ones(6, 1.);
  auto const noise = logistic_noise(6, 1);
  for (auto const& with : {noise, std::vector<double>{}})
    for (double temperature : {1., 0.1, 1e-300}) {
      EXPECT_EQ(relaxed_mask(logits, temperature, with), (std::vector<double>{0, 0, 0, 1, 1, 1}));
      EXPECT_EQ(relaxed_mask_adjoint(logits, temperature, with, ones), std::vector<double>(6, 0.));
    }
  EXPECT_EQ(active_nodes(logits), (std::vector<std::size_t>{3, 4, 5}));
}

TEST(ActiveNodes, AreThoseWhoseAlphaIsAboveTheThreshold) {
  std::vector<double> logits;
  for (double alpha : {0.05, 0.5, 0.51, 0.79, 0.81, 0.2, 1.}) logits.push_back(logit_of(alpha));
  using list = std::vector<std::size_t>;
  EXPECT_EQ(active_nodes(logits), (list{2, 3, 4, 6}));
  EXPECT_EQ(active_nodes(logits, 0.8), (list{4, 6}));
  EXPECT_EQ(active_nodes(logits, 0.1), (list{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(active_nodes(std::vector<double>{-1, -2}), list{});
  // alpha of both is 1 in double; that of 40 is 1 - 4e-18.
  EXPECT_EQ(active_nodes(std::vector<double>{36, 40}, 1 - 0x1p-53), list{1});
}

TEST(TemperatureSchedule, FallsByEqualFactorsOverItsPartOfTheSteps) {
  temperature_schedule const usual;
  EXPECT_EQ(usual.at(0, 1000), 1);
  EXPECT_NEAR(usual.at(100, 1000), std::pow(10, -0.25), 1e-15);
  EXPECT_NEAR(usual.at(200, 1000), std::sqrt(0.1), 1e-15);
  for (std::int64_t step : {400, 401, 1000}) EXPECT_EQ(usual.at(step, 1000), 0.1);
  EXPECT_GT(usual.at(399, 1000), 0.1);
}

TEST(TemperatureSchedule, FallsByEqualDifferencesWhenAsked) {
  temperature_schedule const linear{2, 1, 0.5, annealing::linear};
  EXPECT_EQ(linear.at(0, 8), 2);
  EXPECT_EQ(linear.at(1, 8), 1.75);
  EXPECT_EQ(linear.at(3, 8), 1.25);
  EXPECT_EQ(linear.at(4, 8), 1);
}

TEST(TemperatureSchedule, OfNoPartOrNoStepsIsOverAtOnce) {
  EXPECT_EQ((temperature_schedule{1, 0.1, 0}.at(0, 10)), 0.1);
  EXPECT_EQ(temperature_schedule{}.at(0, 0), 0.1);
  EXPECT_EQ((temperature_schedule{1, 0.1, 1}.at(10, 10)), 0.1);
}

TEST(BinaryConcrete, SaysWhatDoesNotFit) {
  std::vector<double> const two{0, 1}, three{0, 1, 2};
  expect_refusal([] { (void)logistic_noise(0, 1); }, {"count is 0"});
  for (double wrong : {0., -1., infinite, std::nan("")}) {
    expect_refusal([&] { (void)relaxed_mask(two, wrong); }, {"temperature is ", "positive"});
    expect_refusal([&] { (void)relaxed_mask_adjoint(two, wrong, {}, two); }, {"temperature is "});
    expect_refusal([&] { (void)temperature_schedule{wrong}.at(0, 1); }, {"first is "});
    expect_refusal([&] { (void)temperature_schedule{1, wrong}.at(0, 1); }, {"last is "});
  }
  expect_refusal([&] { (void)relaxed_mask(two, 1, three); }, {"noise has 3", "2 logits"});
  expect_refusal([&] { (void)relaxed_mask_adjoint(two, 1, three, two); }, {"noise has 3"});
  expect_refusal([&] { (void)relaxed_mask_adjoint(two, 1, {}, three); }, {"mask_gradient has 3"});
  for (double wrong : {0., 1., -1., std::nan("")})
    expect_refusal([&] { (void)active_nodes(two, wrong); }, {"threshold is ", "between 0 and 1"});
  expect_refusal([] { (void)active_nodes(std::vector<double>{0, NAN}); }, {"logits[1] is NaN"});
  for (double wrong : {-0.1, 1.1, std::nan("")})
    expect_refusal([&] { (void)temperature_schedule{1, 0.1, wrong}.at(0, 1); }, {"part is "});
  expect_refusal([] { (void)temperature_schedule{}.at(11, 10); }, {"step is 11", "0 to 10"});
  expect_refusal([] { (void)temperature_schedule{}.at(-1, 10); }, {"step is -1"});
}

}  // namespace
