// Random spectra: the same draw everywhere, in range, sorted, of the right law.
// SPDX-License-Identifier: MIT
#include "wane/spectra/rates/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "spectra/expect_refusal.hpp"

namespace {

using namespace wane::spectra;

// From mt19937_64 written anew from its definition in another language, seed 7, four draws.
TEST(RandomSpectra, DrawTheSameNumbersWithEveryLibrary) {
  std::vector<double> const log_uniform = {0.0014193725153559982, 0.00210989318746641,
                                           0.005455619682547896, 0.44438271387505746};
  std::vector<double> const uniform = {0.11829686675348348, 0.7546309188487051, 0.8920212635357638,
                                       0.9493519016897516};
  auto const drawn = random_log_uniform(4, 1000, 7);
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_NEAR(drawn[k] / log_uniform[k], 1, 1e-15);  // exp and log may differ in the last bits
  EXPECT_EQ(random_uniform(4, 1000, 7), uniform);
}

TEST(RandomSpectra, DependOnTheSeedAlone) {
  EXPECT_EQ(random_uniform(9, 100, 3), random_uniform(9, 100, 3));
  EXPECT_NE(random_uniform(9, 100, 3), random_uniform(9, 100, 4));
  EXPECT_NE(random_log_uniform(9, 100, 0), random_log_uniform(9, 100, ~std::uint64_t{0}));
}

TEST(RandomSpectra, LieInTheirRangeSlowestFirst) {
  for (auto const& rates : {random_log_uniform(5000, 1000, 1), random_uniform(5000, 1000, 1)}) {
    EXPECT_TRUE(std::is_sorted(rates.begin(), rates.end()));
    EXPECT_GE(rates.front(), 1e-3);
    EXPECT_LE(rates.back(), 1.0);
  }
}

TEST(RandomSpectra, HaveTheMeansOfTheirLaws) {
  // Means of 1e5 draws; standard errors log(1000)/sqrt(12e5) = 0.0063 and 1/sqrt(12e5) = 9e-4, and
  // five of them.
  double log_sum = 0;
  for (double rate : random_log_uniform(100000, 1000, 5)) log_sum += std::log(rate);
  EXPECT_NEAR(log_sum / 1e5, -std::log(1000) / 2, 0.032);
  double sum = 0;
  for (double rate : random_uniform(100000, 1000, 5)) sum += rate;
  EXPECT_NEAR(sum / 1e5, 0.5005, 0.0046);
}

TEST(RandomSpectra, OnAHorizonOfOneAreOne) {
  EXPECT_EQ(random_log_uniform(3, 1, 2), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(random_uniform(3, 1, 2), (std::vector<double>{1, 1, 1}));
}

TEST(RandomSpectra, RefuseNoRatesAndNoHorizon) {
  expect_refusal([] { random_log_uniform(0, 10, 1); }, {"count is 0"});
  expect_refusal([] { random_log_uniform(1, 0, 1); }, {"horizon is 0"});
  expect_refusal([] { random_uniform(-1, 10, 1); }, {"count is -1"});
  expect_refusal([] { random_uniform(1, -5, 1); }, {"horizon is -5"});
}

}  // namespace
