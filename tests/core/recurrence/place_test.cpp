// Places and lanes: the number of their columns, the columns, and the defaults.
// SPDX-License-Identifier: MIT
#include "wane/core/recurrence/place.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "wane/core/recurrence/view.hpp"

namespace {

using wane::index;
using wane::place;

static_assert(wane::lanes<8>::width == 8 && wane::partial_lanes<8>::width == 8);
static_assert(wane::time_lanes<8, 2>::width == 8 && wane::time_lanes<8, 2>::channels == 2);

TEST(Lanes, AreAllFilledUnlessTheySayHowMany) {
  EXPECT_EQ(wane::lane_count(wane::lanes<8>{5}), 8);
  EXPECT_EQ(wane::lane_count(wane::partial_lanes<8>{5, 3}), 3);
}

TEST(Place, IsTheFirstOfItsSequenceUnlessItSaysSo) {
  place<> const at{1, 2, 3};
  EXPECT_EQ(at.position, 1);
  EXPECT_EQ((wane::time_lanes<8, 2>{5}.direction), 1);
}

constexpr int W = wane::simd_width<float>;

// 0, 1, 2, ...: of C channels a token, channel j of token t is C t + j.
std::vector<float> numbered() {
  std::vector<float> numbers(2 * W * W);
  std::iota(numbers.begin(), numbers.end(), 0.f);
  return numbers;
}

TEST(Lanes, AreNeighbouringColumns) {
  auto const numbers = numbered();
  wane::sequence_view<float const> const x(numbers.data(), 1, W, 1, 2 * W);
  auto const all = x.read(place<>{0, 1, 0}, wane::lanes<W>{3});
  auto const some = x.read(place<>{0, 1, 0}, wane::partial_lanes<W>{3, W - 1});
  for (int l = 0; l < W; ++l) {
    EXPECT_EQ(all[l], float(2 * W + 3 + l));
    EXPECT_EQ(some[l], l < W - 1 ? all[l] : 0);
  }
}

// Lane l is channel l mod C of token first + direction * (l / C).
template <int C>
void expect_tokens_side_by_side() {
  auto const numbers = numbered();
  wane::sequence_view<float const> const x(numbers.data(), 1, 2 * W * W / C, 1, C);
  for (int direction : {1, -1}) {
    index const first = W;
    auto const read =
        x.read(place<wane::time_lanes<W, C>>{0, {first, direction}, 0}, wane::time_columns<C>{0});
    for (int l = 0; l < W; ++l)
      EXPECT_EQ(read[l], float((first + direction * (l / C)) * C + l % C)) << C << ' ' << l;
  }
}
TEST(TimeLanes, AreTheChannelsOfATokenAndThenOfTheNext) {
  expect_tokens_side_by_side<1>();
  expect_tokens_side_by_side<2>();
  expect_tokens_side_by_side<W>();
}

}  // namespace
