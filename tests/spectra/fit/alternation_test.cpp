// How a reference of alternating lags improves.
// SPDX-License-Identifier: MIT
#include "wane/spectra/fit/alternation.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace {

using wane::spectra::impl::move_to_extrema;
using indices = std::vector<std::size_t>;

TEST(Alternation, MovesEveryLagToTheTopOfItsRun) {
  indices reference = {0, 3, 6};
  ASSERT_TRUE(move_to_extrema({1, 2, 1.5, -1, -3, -2, 1, 4}, reference));
  EXPECT_EQ(reference, (indices{1, 4, 7}));
}

TEST(Alternation, TakesInTheLargestErrorForItsNeighbourOfTheSameSign) {
  indices reference = {0, 4};  // the runs + - + -: the third, not in the reference, is the largest
  ASSERT_TRUE(move_to_extrema({1, -2, 9, 3, -1, -1}, reference));
  EXPECT_EQ(reference, (indices{2, 4}));
}

TEST(Alternation, BeyondAnEndLetsTheFarEndGo) {
  indices reference = {1, 2};
  ASSERT_TRUE(move_to_extrema({-9, 1, -1}, reference));
  EXPECT_EQ(reference, (indices{0, 1}));
  reference = {0, 1};
  ASSERT_TRUE(move_to_extrema({1, -1, 9}, reference));
  EXPECT_EQ(reference, (indices{1, 2}));
}

TEST(Alternation, LeavesAReferenceThatDoesNotAlternate) {
  indices reference = {0, 1, 2};
  EXPECT_FALSE(move_to_extrema({1, 2, -1, 5}, reference));
  EXPECT_EQ(reference, (indices{0, 1, 2}));
}

}  // namespace
