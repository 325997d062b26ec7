// Geometric spectra: even in the logarithm, exact at the ends, slowest first.
// SPDX-License-Identifier: MIT
#include "wane/spectra/rates/geometric.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "spectra/expect_refusal.hpp"

namespace {

using namespace wane::spectra;

TEST(Geometric, StartsAndEndsExactlyAtItsRange) {
  for (std::int64_t count : {2, 3, 16, 67}) {
    auto const rates = geometric(count, 0.3 / 1e5, 4);
    ASSERT_EQ(rates.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(rates.front(), 0.3 / 1e5);
    EXPECT_EQ(rates.back(), 4.0);
  }
}

TEST(Geometric, HasOneRatioBetweenNeighbours) {
  auto const rates = geometric(16, 1e-5, 1);
  double const ratio = std::pow(1e5, 1.0 / 15);
  // An exponential of a number up to 11.5 loses its rounding times 11.5: 3e-15 for a quotient.
  for (std::size_t k = 1; k < rates.size(); ++k)
    EXPECT_NEAR(rates[k] / rates[k - 1] / ratio, 1, 1e-14);
}

TEST(Geometric, WithOneRateIsTheSlowest) {
  EXPECT_EQ(geometric(1, 0.25, 4), std::vector<double>{0.25});
}

TEST(Geometric, MayRepeatOneRate) {
  EXPECT_EQ(geometric(3, 1, 1), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(geometric(3, unit_range(1)), (std::vector<double>{1, 1, 1}));
}

TEST(Geometric, NamedRangesAreThoseOfThePaperAndTheWideOne) {
  EXPECT_EQ(unit_range(1000).low, 1e-3);
  EXPECT_EQ(unit_range(1000).high, 1.0);
  EXPECT_EQ(wide_range(1000).low, 0.3 / 1000);
  EXPECT_EQ(wide_range(1000).high, 4.0);
}

TEST(Geometric, RefusesWhatIsNoRange) {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  expect_refusal([] { geometric(0, 1e-3, 1); }, {"count is 0", "at least 1"});
  expect_refusal([] { geometric(-3, 1e-3, 1); }, {"count is -3"});
  expect_refusal([] { geometric(4, 0, 1); }, {"low is 0", "positive"});
  expect_refusal([&] { geometric(4, nan, 1); }, {"low is nan"});
  expect_refusal([&] { geometric(4, 1, nan); }, {"high is nan"});
  expect_refusal([] { geometric(4, 1, std::numeric_limits<double>::infinity()); }, {"high is inf"});
  expect_refusal([] { geometric(4, 2, 1); }, {"low is 2", "high, which is 1"});
  expect_refusal([] { unit_range(0); }, {"horizon is 0", "1 to 2^53"});
  expect_refusal([] { wide_range(-1); }, {"horizon is -1"});
}

}  // namespace
