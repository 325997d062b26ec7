// Coherence, channels of use, half-lives.
// SPDX-License-Identifier: MIT
#include "wane/spectra/rates/analysis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "spectra/expect_refusal.hpp"
#include "wane/spectra/rates/geometric.hpp"
#include "wane/spectra/rates/random.hpp"

namespace {

using namespace wane::spectra;

TEST(Coherence, IsTheCosineBetweenTwoDecays) {
  // <e^{-rx}, e^{-sx}> / (norms) on x > 0 = 2 sqrt(r s) / (r + s).
  for (double rate : {1e-6, 0.3, 1.0, 50.0})
    EXPECT_NEAR(spectral_coherence(rate, 2), 2 * std::sqrt(2 * rate) / (rate + 2), 1e-14);
  EXPECT_NEAR(spectral_coherence(1, 4), 0.8, 1e-15);
  EXPECT_EQ(spectral_coherence(0.1, 0.1), 1.0);
  EXPECT_EQ(spectral_coherence(1, 3), spectral_coherence(3, 1));
  EXPECT_GE(spectral_coherence(1e-300, 1e300), 0.0);
}

// Pairs counted one by one; and no two of the distinct ones are alike.
TEST(Coherence, TellsPairsThatAreAlikeAndOneOfEach) {
  auto rates = random_log_uniform(200, 10'000, 3);
  std::sort(rates.begin(), rates.end());
  rates[7] = rates[6];
  for (double const coherence : {0.5, 0.9, 0.99, 0.9999}) {
    std::int64_t pairs = 0;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        pairs += spectral_coherence(rates[i], rates[j]) > coherence ? 1 : 0;
      }
    }
    EXPECT_EQ(pairs_alike(rates, coherence), pairs);
    auto const distinct = distinct_rates(rates, coherence);
    for (std::size_t i = 1; i < distinct.size(); ++i) {
      double const alike = spectral_coherence(distinct[i], distinct[i - 1]);
      EXPECT_LE(alike, coherence + 1e-12);  // the threshold itself, rounded
    }
    for (double const rate : rates) {
      EXPECT_TRUE(std::any_of(distinct.begin(), distinct.end(), [&](double kept) {
        return spectral_coherence(rate, kept) >= coherence - 1e-12;
      }));
    }
  }
}

TEST(Coherence, IsLargestForTheClosestPairInAnyOrder) {
  EXPECT_EQ(largest_coherence({8, 0.001, 1, 2, 30}), spectral_coherence(1, 2));
  EXPECT_EQ(largest_coherence({8, 1, 8}), 1.0);
  EXPECT_EQ(largest_coherence({8}), 0.0);
}

TEST(Coherence, OfAGeometricSpectrumIsThatOfOneGap) {
  double const gap = std::log(1e5) / 15;
  EXPECT_NEAR(largest_coherence(geometric(16, unit_range(100000))), 1 / std::cosh(gap / 2), 1e-14);
}

TEST(Channels, AreThoseWhoseTimescaleLiesBetweenOneAndThePosition) {
  std::vector<double> const rates = {2, 1, 0.5, 0.1, 0.1, 0.01};
  EXPECT_EQ(channels_within(rates, 1), 1);
  EXPECT_EQ(channels_within(rates, 2), 2);
  EXPECT_EQ(channels_within(rates, 10), 4);
  EXPECT_EQ(channels_within(rates, 99), 4);
  EXPECT_EQ(channels_within(rates, 100), 5);
}

TEST(Channels, OfAStaticGeometricSpectrumAreTheFloorOfTheClaimPlusOne) {
  for (std::int64_t count : {2, 8, 16, 31})
    for (std::int64_t position : {1, 7, 100, 5000, 10000}) {
      auto const rates = geometric(count, unit_range(10000));
      double const gaps = static_cast<double>(count - 1) * std::log(static_cast<double>(position)) /
                          std::log(10000);
      EXPECT_EQ(channels_within(rates, position), std::floor(gaps + 1e-9) + 1);
    }
}

TEST(Channels, ClaimedGrowWithTheLogarithmOfThePosition) {
  EXPECT_EQ(effective_channels(16, 1, 10000), 0.0);
  EXPECT_NEAR(effective_channels(16, 100, 10000), 8, 1e-14);
  EXPECT_EQ(effective_channels(16, 10000, 10000), 16.0);
}

TEST(HalfLife, IsWhereHalfIsLeft) {
  for (double rate : {1e-6, 0.1, 3.0}) EXPECT_NEAR(std::exp(-rate * half_life(rate)), 0.5, 1e-15);
  EXPECT_EQ(half_lives({2, 0.5}), (std::vector<double>{half_life(2), half_life(0.5)}));
  EXPECT_EQ(longest_half_life({2, 0.5, 1}), half_life(0.5));
}

TEST(Analysis, RefusesRatesThatAreNoneAndPositionsThatAreNot) {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  expect_refusal([] { spectral_coherence(0, 1); }, {"rate is 0"});
  expect_refusal([&] { spectral_coherence(1, nan); }, {"other is nan"});
  expect_refusal([] { largest_coherence({}); }, {"rates is empty"});
  expect_refusal([] { largest_coherence({1, -1}); }, {"rates[1] is -1"});
  expect_refusal([] { channels_within({1}, 0); }, {"position is 0"});
  expect_refusal([] { channels_within({}, 1); }, {"rates is empty"});
  expect_refusal([] { effective_channels(0, 1, 10); }, {"count is 0"});
  expect_refusal([] { effective_channels(4, 0, 10); }, {"position is 0"});
  expect_refusal([] { effective_channels(4, 1, 1); }, {"horizon is 1", "log T"});
  expect_refusal([&] { half_life(nan); }, {"rate is nan"});
  expect_refusal([] { half_lives({}); }, {"rates is empty"});
  expect_refusal(
      [] {
        longest_half_life({1, std::numeric_limits<double>::infinity()});
      },
      {"rates[1] is inf"});
}

TEST(DiscreteCoherence, IsTheCosineOnSteps) {
  for (auto [r, s] : {std::pair{1.0, 4.0}, {0.01, 0.02}, {0.3, 0.3}}) {
    double product = 0, first = 0, second = 0;
    for (int l = 0; l < 20000; ++l) {
      product += std::exp(-(r + s) * l);
      first += std::exp(-2 * r * l), second += std::exp(-2 * s * l);
    }
    EXPECT_NEAR(discrete_coherence(r, s), product / std::sqrt(first * second), 1e-12);
  }
  EXPECT_NEAR(discrete_coherence(1, 4), 0.936, 5e-4);  // where the continuous one is 0.8
  EXPECT_NEAR(discrete_coherence(1e-6, 4e-6), spectral_coherence(1e-6, 4e-6), 1e-5);
}

TEST(StateEnergy, IsTheVarianceOfAWalkThroughNoise) {
  EXPECT_NEAR(state_energy(0.1, 0, 50), std::expm1(-10.0) / std::expm1(-0.2), 1e-12);
  EXPECT_EQ(state_energy(3, 1, 1), 1.0);
  for (double rate : {0.5, 1.0, 2.0})
    EXPECT_NEAR(state_energy(rate, 1, 100000) / (100000 / (2 * rate + 1)), 1, 1e-4) << rate;
  expect_refusal([] { (void)state_energy(1, 2, 10); }, {"alpha is 2"});
  expect_refusal([] { (void)state_energy(1, 1, 2'000'000'000); }, {"10^9 steps"});
}

}  // namespace
