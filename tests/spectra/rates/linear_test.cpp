// The linear spectrum, and HiPPO-LegS's.
// SPDX-License-Identifier: MIT
#include "wane/spectra/rates/linear.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "spectra/expect_refusal.hpp"

namespace {

using wane::spectra::hippo_legs;
using wane::spectra::linear;

TEST(Linear, IsThatOfS4DRealUnlessToldOtherwise) {
  EXPECT_EQ(linear(4), (std::vector<double>{1, 2, 3, 4}));
}

TEST(Linear, ScalesWithItsSpacing) {
  EXPECT_EQ(linear(3, 0.25), (std::vector<double>{0.25, 0.5, 0.75}));
}

// d/dt c = -(n+1)/t c keeps (m/t)^(n+1) of position m. In steps the rates add up to
// (n+1)(H_t - H_m), H_t = 1 + 1/2 + ... + 1/t, which is (n+1) log(t/m) up to terms of 1/m.
TEST(Linear, OfHippoLegsKeepsAPowerOfThePosition) {
  EXPECT_EQ(hippo_legs(3, 4), (std::vector<double>{0.25, 0.5, 0.75}));
  std::vector<double> kept(3);
  for (std::int64_t t = 2001; t <= 8000; ++t) {
    auto const rates = hippo_legs(3, t);
    for (std::size_t n = 0; n < 3; ++n) kept[n] += rates[n];
  }
  for (std::size_t n = 0; n < 3; ++n) {
    double const power = static_cast<double>(n + 1);
    EXPECT_NEAR(std::exp(-kept[n]) / std::pow(0.25, power), 1, power / 2000);
  }
}

TEST(Linear, RefusesNoRatesAndNoSpacing) {
  expect_refusal([] { linear(0); }, {"count is 0", "at least 1"});
  expect_refusal([] { linear(4, 0); }, {"spacing is 0", "positive"});
  expect_refusal([] { hippo_legs(4, 0); }, {"position is 0"});
  expect_refusal([] { linear(4, std::numeric_limits<double>::quiet_NaN()); }, {"spacing is nan"});
}

}  // namespace
