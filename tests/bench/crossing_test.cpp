// The length from which on a kernel is faster than another.
// SPDX-License-Identifier: MIT
#include "cuda/crossing.hpp"

#include <gtest/gtest.h>

namespace {

using wane::bench::crossing;

crossing of(std::initializer_list<double> ratios) {
  crossing x;
  wane::index length = 1024;
  for (double each : ratios) x.add(length, each), length *= 2;
  return x;
}

TEST(Crossing, IsWhereTheRatioPassesOne) {
  EXPECT_NEAR(of({0.25, 0.5, 2, 4}).length().value(), 2048 * std::sqrt(2.), 1e-9);
  EXPECT_NEAR(of({0.5, 1, 2}).length().value(), 2048, 1e-9);
}
TEST(Crossing, IsTheLastOfSeveral) {
  EXPECT_NEAR(of({0.5, 2, 0.5, 2}).length().value(), 4096 * std::sqrt(2.), 1e-9);
}
TEST(Crossing, IsNoneWhereTheOtherStaysFaster) {
  EXPECT_FALSE(of({0.5, 2, 0.9}).length());
  EXPECT_FALSE(of({}).length());
  EXPECT_FALSE(of({NAN}).length());
}
TEST(Crossing, IsTheFirstLengthWhereTheOtherIsNeverFaster) {
  EXPECT_NEAR(of({2, 4}).length().value(), 1024, 1e-9);
}

}  // namespace
