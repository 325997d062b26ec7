// The autocorrelation of a series: closed forms, offsets and scales, threads.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "bench/random_series.hpp"
#include "shared/progress.hpp"
#include "spectra/series_measurement.hpp"

namespace wane::bench {
namespace {

measurement measured(std::vector<double> const& values, std::vector<std::int64_t> const& lags,
                     unsigned threads = 1) {
  progress silent(false);
  return measure_series(values, lags, threads, silent);
}

TEST(Autocorrelation, OfAFirstOrderProcessIsAPower) {
  auto const m = measured(first_order_series(200'000, 0.9, 1), {1, 2, 5, 10, 20});
  for (auto const& lag : m.lags) {
    double const exact = std::pow(0.9, static_cast<double>(lag.lag));
    EXPECT_NEAR(lag.excess(), exact, 4 * lag.noise()) << lag.lag;
    EXPECT_LT(lag.noise(), 0.1) << lag.lag;
  }
}

TEST(Autocorrelation, OfWhiteNoiseIsItsBaseline) {
  for (auto const& lag : measured(white_noise(100'000, 2), {1, 3, 30, 300, 3000}).lags) {
    EXPECT_LT(std::abs(lag.excess()), 4 * lag.noise()) << lag.lag;
    EXPECT_FALSE(lag.above_noise()) << lag.lag;
  }
}

// sum over whole periods: r(l) = cos(2 pi l / p) up to the ends, which are l of n numbers.
TEST(Autocorrelation, OfAWaveIsTheWave) {
  std::vector<double> wave(10'000);
  for (std::size_t i = 0; i < wave.size(); ++i) {
    wave[i] = std::sin(2 * std::numbers::pi * static_cast<double>(i) / 100);
  }
  auto const m = measured(wave, {25, 50, 100});
  EXPECT_NEAR(m.lags[0].estimate, 0, 0.01);
  EXPECT_NEAR(m.lags[1].estimate, -1, 0.01);
  EXPECT_NEAR(m.lags[2].estimate, 1, 0.01);
}

TEST(Autocorrelation, DoesNotDependOnOffsetAndScale) {
  auto values = first_order_series(5000, 0.7, 3);
  auto const plain = measured(values, {1, 10});
  for (double& x : values) x = 1e9 + 1e3 * x;
  auto const moved = measured(values, {1, 10});
  EXPECT_NEAR(plain.lags[0].estimate, moved.lags[0].estimate, 1e-9);
  EXPECT_NEAR(plain.lags[1].estimate, moved.lags[1].estimate, 1e-9);
}

// A mean of the values would be rounded by as much as they differ.
TEST(Autocorrelation, IsExactForNeighboursAmongDoubles) {
  double const next = std::nextafter(0.1, 1);
  std::vector<double> turns(64);
  for (std::size_t i = 0; i < turns.size(); ++i) turns[i] = i % 2 ? next : 0.1;
  auto const m = measured(turns, {1, 2});
  EXPECT_NEAR(m.lags[0].estimate, -1, 1e-12);
  EXPECT_NEAR(m.lags[1].estimate, 1, 1e-12);
}

TEST(Autocorrelation, OfNoiseOnALargeOffsetIsThatOfTheNoise) {
  auto noise = white_noise(5000, 5);
  for (double& x : noise) x = 101325 + 1e-7 * x;
  std::vector<double> alone = noise;
  for (double& x : alone) x -= 101325;
  auto const here = measured(noise, {1, 10}), there = measured(alone, {1, 10});
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(here.lags[i].estimate, there.lags[i].estimate, 1e-12);
    EXPECT_LT(std::abs(here.lags[i].estimate), 0.06);
  }
}

TEST(Autocorrelation, IsTheSameForAnyNumberOfThreads) {
  auto const values = white_noise(1000, 4);
  auto const one = measured(values, {1, 2, 4, 8}, 1);
  auto const three = measured(values, {1, 2, 4, 8}, 3);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(one.lags[i].without, three.lags[i].without);
}

}  // namespace
}  // namespace wane::bench
