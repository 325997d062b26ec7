// How columns are cut into tasks, and which outputs are written past the caches.
// SPDX-License-Identifier: MIT
#include "wane/run/shared/pieces.hpp"

#include <gtest/gtest.h>

#include "wane/run/channels/columns.hpp"

namespace {

using wane::index;

TEST(ColumnsPerTask, GiveEveryThreadWorkInMultiplesOfTheLeast) {
  EXPECT_EQ(wane::impl::columns_per_task(1000, 1, 1, 16), 1000);
  EXPECT_EQ(wane::impl::columns_per_task(1000, 8, 4, 16), 1000);
  EXPECT_EQ(wane::impl::columns_per_task(1000, 0, 4, 16), 1000);
  for (index columns : {1, 15, 16, 17, 1000})
    for (index walks : {1, 3})
      for (int threads : {4, 7}) {
        index const piece = wane::impl::columns_per_task(columns, walks, threads, 16);
        EXPECT_EQ(piece % 16, 0);
        index const pieces = (columns + piece - 1) / piece;
        EXPECT_TRUE(pieces * walks >= threads || piece == 16) << columns << " columns";
      }
}

TEST(CanStream, WholeAlignedVectorsOfTheComputedType) {
  alignas(64) float numbers[256];
  constexpr index width = wane::simd_width<float>;
  using view = wane::sequence_view<float>;
  EXPECT_TRUE(wane::impl::can_stream<float>(view(numbers, 1, 2, 2, 2 * width)));
  EXPECT_FALSE(wane::impl::can_stream<float>(view(numbers + 1, 1, 2, 2, 2 * width)));
  EXPECT_FALSE(wane::impl::can_stream<float>(view(numbers, 1, 2, 2, 2 * width + 1)));
  EXPECT_FALSE(wane::impl::can_stream<double>(view(numbers, 1, 2, 2, 2 * width)));
}

}  // namespace
