// The lags that fits look at.
// SPDX-License-Identifier: MIT
#include "wane/spectra/fit/lags.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "spectra/expect_refusal.hpp"

namespace {

using namespace wane::spectra;
using namespace wane::spectra::impl;

TEST(Lags, AreAllOfThemWhereTheHorizonIsShort) {
  EXPECT_EQ(fitting_lags(1), std::vector<std::int64_t>{1});
  for (std::int64_t horizon : {2, 199, 200, 201, 1100}) {
    auto const lags = fitting_lags(horizon);
    ASSERT_EQ(lags.size(), static_cast<std::size_t>(horizon));
    for (std::size_t i = 0; i < lags.size(); ++i)
      EXPECT_EQ(lags[i], static_cast<std::int64_t>(i + 1));
  }
}

TEST(Lags, IncreaseStrictlyFromOneToTheHorizon) {
  for (std::int64_t horizon : {1101, 5000, 1000000, 1000000007})
    for (auto const& lags : {fitting_lags(horizon), checking_lags(horizon)}) {
      EXPECT_EQ(lags.front(), 1);
      EXPECT_EQ(lags.back(), horizon);
      for (std::size_t i = 1; i < lags.size(); ++i) EXPECT_LT(lags[i - 1], lags[i]);
    }
}

TEST(Lags, OfTheCheckAreEveryLagUpToTwoToFourteenAndTenTimesDenserBeyond) {
  EXPECT_EQ(checking_lags(1 << 14).size(), std::size_t{1} << 14);
  EXPECT_EQ(fitting_lags(1000000000000).size(), 1100U);
  EXPECT_EQ(checking_lags(1000000000000).size(), (std::size_t{1} << 14) + 9000);
}

TEST(Lags, NeedAHorizon) {
  expect_refusal([] { fitting_lags(0); }, {"horizon is 0", "1 to 2^53"});
  expect_refusal([] { checking_lags((std::int64_t{1} << 53) + 1); },
                 {"horizon is 9007199254740993"});
}

}  // namespace
