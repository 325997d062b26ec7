// The search finds the lowest of several valleys, at the border too, and along a line.
// SPDX-License-Identifier: MIT
#include "wane/spectra/fit/search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace {

using namespace wane::spectra;
using namespace wane::spectra::impl;

TEST(Search, FindsTheLowestOfManyValleys) {
  auto const egg_box = [](double x, double y) {
    return std::cos(3 * x) + std::cos(3 * y) + 0.1 * (std::abs(x - 1) + std::abs(y - 3));
  };
  valley const best = lowest_point(egg_box, {-5, 5, -5, 5}, 0.4, 20, 1e-4);
  // Near pi/3, where the cosine is lowest and the tent is low too; the kink of the tent is apart.
  EXPECT_NEAR(best.x, std::numbers::pi / 3, 0.02);
  EXPECT_NEAR(best.y, std::numbers::pi, 0.02);
}

TEST(Search, FindsALowestPointOnTheBorder) {
  valley const best =
      lowest_point([](double x, double y) { return x + 2 * y; }, {1, 2, -3, 4}, 0.3, 4, 1e-3);
  EXPECT_EQ(best.x, 1.0);
  EXPECT_EQ(best.y, -3.0);
}

TEST(Search, AlongALineLeavesTheOtherCoordinateAlone) {
  valley const best = lowest_point([](double x, double y) { return std::abs(x - 0.7) + y; },
                                   {0, 1, 5, 5}, 0.1, 4, 1e-6);
  EXPECT_NEAR(best.x, 0.7, 1e-6);
  EXPECT_EQ(best.y, 5.0);
}

TEST(Search, KeepsOutOfWhereTheValueIsInfinite) {
  auto const half = [](double x, double y) {
    return x < y ? std::numeric_limits<double>::infinity() : x;
  };
  valley const best = lowest_point(half, {0, 1, 0.5, 1}, 0.1, 4, 1e-3);
  EXPECT_EQ(best.value, 0.5);
}

}  // namespace
