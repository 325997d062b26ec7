// larger keeps every NaN, so that no contest passes with an unwritten output.
// SPDX-License-Identifier: MIT
#include "shared/larger.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/linear_recurrence_loops.hpp"

namespace wane::bench {
namespace {

TEST(Larger, IsTheLargerOrNaN) {
  EXPECT_EQ(larger(1, 2), 2);
  EXPECT_EQ(larger(2, 1), 2);
  EXPECT_TRUE(std::isnan(larger(NAN, 1)));
  EXPECT_TRUE(std::isnan(larger(1, NAN)));
}

TEST(Difference, KeepsNaNWhereverItComes) {
  for (int at : {0, 1, 2}) {
    difference found;
    for (int i = 0; i < 3; ++i) found.add(i == at ? std::nan("") : 1., 1.);
    EXPECT_TRUE(std::isnan(found.relative())) << at;
  }
}

}  // namespace
}  // namespace wane::bench
