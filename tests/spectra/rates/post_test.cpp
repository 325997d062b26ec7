// PoST's rates at a position: taper, covering, and what the position gains.
// SPDX-License-Identifier: MIT
#include "wane/spectra/rates/post.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "spectra/expect_refusal.hpp"
#include "wane/spectra/fit/fit.hpp"

namespace {

using namespace wane::spectra;

double error(std::vector<double> const& rates, std::int64_t position) {
  return fit(rates, power_law(0.5), position).max_absolute_error;
}

TEST(Post, CoversAtEveryPositionWhatTheBaseCoversWhereItWasTrained) {
  for (std::int64_t position : {1, 2, 1000, 65536, 100000000}) {
    auto const unit = covering_rates(geometric(16, unit_range(2048)), 2048, position);
    auto const wide = covering_rates(geometric(16, wide_range(2048)), 2048, position);
    auto const unit_there = geometric(16, unit_range(position));
    auto const wide_there = geometric(16, wide_range(position));
    for (std::size_t k = 0; k < 16; ++k) {  // powers of up to 5e4: 11 epsilon of the exponent's 1
      EXPECT_NEAR(unit[k] / unit_there[k], 1, 2e-14);
      EXPECT_NEAR(wide[k] / wide_there[k], 1, 2e-14);
    }
  }
}

TEST(Post, HasTimescalesOfThePositionToTheTaper) {
  // Theorem 4.11: tau_k(t) = t^{alpha_k}, from the unit range.
  auto const rates = covering_rates(geometric(9, unit_range(512)), 512, 4096);
  auto const taper = linear_taper(9);
  for (std::size_t k = 0; k < 9; ++k)
    EXPECT_NEAR(1 / rates[k] / std::pow(4096, taper[k]), 1, 1e-14);
}

TEST(Post, ByReferenceReachesTheProductOfPositionAndLength) {
  auto const rates = reference_rates(geometric(9, unit_range(512)), 4096);
  EXPECT_NEAR(1 / rates.front() / (512. * 4096), 1, 1e-12);
  EXPECT_NEAR(1 / rates.back(), 1, 1e-12);
}

TEST(Post, LeavesTheBaseAloneWhereItWasTrainedAndASingleChannelEverywhere) {
  auto const base = geometric(7, 1e-3, 2);
  EXPECT_EQ(covering_rates(base, 777, 777), base);
  EXPECT_EQ(covering_rates({0.125}, 10, 100000), std::vector<double>{0.125});
}

TEST(Post, BeatsAStaticSpectrumEarlyAsMeasured) {
  // Design table B1, t = sqrt(T), within 10 %; the static entry of N = 16, T = 1e4 reaches further
  // than the table's 8.9e-4.
  struct entry {
    std::int64_t horizon, position, count;
    double still, moving;
  };
  for (auto [horizon, position, count, still, moving] :
       {entry{10000, 100, 32, 5.7e-5, 0}, entry{1000000, 1000, 8, 6.6e-3, 3.5e-3},
        entry{1000000, 1000, 16, 3.1e-3, 7.2e-4}, entry{1000000, 1000, 32, 5.9e-4, 3.4e-5},
        entry{10000, 100, 16, 0, 1.1e-4}}) {
    auto const base = geometric(count, unit_range(horizon));
    if (still > 0) {
      EXPECT_NEAR(error(base, position) / still, 1, 0.1) << horizon << ' ' << count;
    }
    if (moving > 0) {
      EXPECT_NEAR(error(covering_rates(base, horizon, position), position) / moving, 1, 0.1);
    }
  }
  auto const base = geometric(32, unit_range(10000));
  EXPECT_LE(error(geometric(16, unit_range(10000)), 100), 8.9e-4);
  EXPECT_LE(error(covering_rates(base, 10000, 100), 100), 1.8e-6);
}

TEST(Post, BeatsAStaticSpectrumBeyondItsTrainingAsMeasured) {
  // Design table B1: trained at 1e3, at t = 1e5, within 10 %.
  double const still[] = {1.3e-2, 1.1e-2, 8e-3};
  double const moving[] = {3.3e-3, 2.5e-3, 3.7e-4};
  for (std::size_t i = 0; i < 3; ++i) {
    auto const base = geometric(std::int64_t{8} << i, unit_range(1000));
    EXPECT_NEAR(error(base, 100000) / still[i], 1, 0.1);
    EXPECT_NEAR(error(covering_rates(base, 1000, 100000), 100000) / moving[i], 1, 0.1);
  }
}

TEST(Post, ByDefaultIsWideFromSixteenChannelsOnAndSearchedBelow) {
  EXPECT_EQ(post(16, 5000), geometric(16, wide_range(5000)));
  EXPECT_EQ(post(8, 5000), geometric(8, best_range(8, 5000, 0.5)));
  EXPECT_EQ(post(8, 5000, 1.0), geometric(8, best_range(8, 5000, 1.0)));
  for (std::int64_t position : {1000, 10000, 100000})
    EXPECT_LE(error(post(16, position), position), 1e-4);
  for (std::int64_t position : {1000, 10000, 100000})
    EXPECT_LE(error(post(32, position), position), 3e-7);
  EXPECT_LE(error(post(8, 100000), 100000), 3.3e-3);
}

TEST(Post, RefusesWhatItCannotStretch) {
  expect_refusal([] { linear_taper(0); }, {"count is 0"});
  expect_refusal([] { covering_rates({}, 10, 10); }, {"rates is empty"});
  expect_refusal(
      [] {
        covering_rates({2, 1}, 10, 10);
      },
      {"rates[1] is 1 after 2", "slowest first"});
  expect_refusal([] { covering_rates({1}, 0, 10); }, {"trained_at is 0"});
  expect_refusal([] { covering_rates({1}, 10, 0); }, {"position is 0"});
  expect_refusal([] { post(0, 10); }, {"count is 0"});
  expect_refusal([] { post(20, 0); }, {"position is 0"});
  expect_refusal([] { post(20, 10, -0.5); }, {"beta is -0.5"});
}

}  // namespace
