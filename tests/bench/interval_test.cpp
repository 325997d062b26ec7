// interval_of: means and their intervals by Student's t.
// SPDX-License-Identifier: MIT
#include "shared/interval.hpp"

#include <gtest/gtest.h>

namespace wane::bench {
namespace {

TEST(Interval, IsThatOfStudentsT) {
  EXPECT_TRUE(std::isnan(interval_of({3}).half_width));
  EXPECT_EQ(interval_of({3}).mean, 3);
  // Two numbers 1 apart: deviation 1/sqrt(2), divided by sqrt(2).
  EXPECT_NEAR(interval_of({1, 2}).half_width, 12.706 / 2, 1e-12);
  // 1, 2, 3: deviation 1, divided by sqrt(3).
  EXPECT_NEAR(interval_of({1, 2, 3}).half_width, 4.303 / std::sqrt(3.), 1e-12);
  EXPECT_NEAR(interval_of({1, 2, 3}).mean, 2, 1e-12);
  std::vector<double> many;
  for (int n = 0; n < 40; ++n) many.push_back(n % 2);
  EXPECT_NEAR(interval_of(many).half_width, 2.201 * std::sqrt(10 / 39. / 40), 1e-12);
}

}  // namespace
}  // namespace wane::bench
