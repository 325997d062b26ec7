// require: throws only on a false condition, with its arguments as the message.
// SPDX-License-Identifier: MIT
#include "wane/core/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace {

std::string message_of(auto const&... parts) {
  try {
    wane::require(false, parts...);
  } catch (std::invalid_argument const& e) {
    EXPECT_NE(dynamic_cast<wane::error const*>(&e), nullptr);
    return e.what();
  }
  return "nothing was thrown";
}

TEST(Require, ThrowsNothingWhenTheConditionHolds) {
  EXPECT_NO_THROW(wane::require(true, "never seen"));
}

TEST(Require, JoinsItsParts) {
  EXPECT_EQ(message_of("beta is ", -2, "; it must be positive"), "beta is -2; it must be positive");
}

TEST(Require, TellsNeighbouringNumbersApart) {
  double const next = std::nextafter(1.0, 2.0);
  EXPECT_NE(message_of(next), message_of(1.0));
  EXPECT_EQ(std::stod(message_of(next)), next);
  EXPECT_EQ(message_of(0.1, ", ", 1e-13f), "0.1, 1e-13");
}

TEST(Require, WritesLargeIndicesInFull) {
  EXPECT_EQ(message_of(std::numeric_limits<std::int64_t>::max()), "9223372036854775807");
}

}  // namespace
