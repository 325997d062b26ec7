// The linear spectrum.
// SPDX-License-Identifier: MIT
#include "wane/spectra/rates/linear.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "spectra/expect_refusal.hpp"

namespace {

using wane::spectra::linear;

TEST(Linear, IsThatOfS4DRealUnlessToldOtherwise) {
  EXPECT_EQ(linear(4), (std::vector<double>{1, 2, 3, 4}));
}

TEST(Linear, ScalesWithItsSpacing) {
  EXPECT_EQ(linear(3, 0.25), (std::vector<double>{0.25, 0.5, 0.75}));
}

TEST(Linear, RefusesNoRatesAndNoSpacing) {
  expect_refusal([] { linear(0); }, {"count is 0", "at least 1"});
  expect_refusal([] { linear(4, 0); }, {"spacing is 0", "positive"});
  expect_refusal([] { linear(4, std::numeric_limits<double>::quiet_NaN()); }, {"spacing is nan"});
}

}  // namespace
