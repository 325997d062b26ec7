// RetNet's two spectra.
// SPDX-License-Identifier: MIT
#include "wane/spectra/rates/retnet.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "spectra/expect_refusal.hpp"

namespace {

using namespace wane::spectra;

TEST(RetNet, HasGammaOneMinusTwoToMinusFiveMinusHead) {
  auto const rates = retnet(8);
  for (std::size_t head = 0; head < 8; ++head) {
    double const gamma = 1 - std::pow(2.0, -(5.0 + static_cast<double>(head)));
    EXPECT_NEAR(std::exp(-rates[7 - head]), gamma, 2.3e-16);  // an ulp of a number below one
  }
}

TEST(RetNet, OfFixedSpanHasExponentsFromFiveToEight) {
  auto const rates = retnet_fixed_span(4);
  for (std::size_t head = 0; head < 4; ++head) {
    double const gamma = 1 - std::pow(2.0, -(5.0 + static_cast<double>(head)));
    EXPECT_NEAR(std::exp(-rates[3 - head]), gamma, 2.3e-16);
  }
  EXPECT_DOUBLE_EQ(retnet_fixed_span(31).front(), rates.front());
  EXPECT_DOUBLE_EQ(retnet_fixed_span(31).back(), rates.back());
}

TEST(RetNet, WithOneHeadDropsTheHeadTerm) {
  EXPECT_EQ(retnet(1), std::vector<double>{-std::log1p(-0.03125)});
  EXPECT_EQ(retnet_fixed_span(1), retnet(1));
}

TEST(RetNet, KeepsItsDigitsWhereGammaRoundsToOne) {
  // -log(1 - x) = x + x^2/2 + ..., and x = 2^-104 leaves the first term alone.
  EXPECT_EQ(retnet(100).front(), 0x1p-104);
}

TEST(RetNet, IsSlowestFirst) {
  for (auto const& rates : {retnet(64), retnet_fixed_span(64)})
    EXPECT_TRUE(std::is_sorted(rates.begin(), rates.end()));
}

TEST(RetNet, RefusesACountOfHeadsItCannotHave) {
  expect_refusal([] { retnet(0); }, {"heads is 0", "1 to 1000"});
  expect_refusal([] { retnet(1001); }, {"heads is 1001"});
  expect_refusal([] { retnet_fixed_span(0); }, {"heads is 0", "at least 1"});
}

}  // namespace
