// recurrent_state: zero at first, of the shape of its operator, seen by views.
// SPDX-License-Identifier: MIT
#include "wane/core/state/state.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "wane/operators/exponential_bank.hpp"

namespace {

struct two_heads {
  wane::recurrence_shape shape() const { return {3, 5, 2, 4, 7}; }
};

TEST(RecurrentState, IsZeroAtFirstAndHasSeenNothing) {
  wane::recurrent_state<float> const state(two_heads{});
  EXPECT_EQ(std::vector<float>(state.values()), std::vector<float>(3 * 2 * 4 * 7));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(state.values().data()) % 64, 0);
  EXPECT_EQ(state.positions(), std::vector<wane::index>(3));
}

TEST(RecurrentState, HasOneStateForEveryPackedSequence) {
  wane::recurrent_state<double> state(two_heads{}, 11);
  wane::state_view<double> const seen = state;
  EXPECT_EQ(seen.values.extent[0], 11);
  EXPECT_EQ(seen.values.extent[1], 2);
  EXPECT_EQ(seen.values.extent[2], 4);
  EXPECT_EQ(seen.values.extent[3], 7);
  EXPECT_EQ(state.positions().size(), 11u);
}

TEST(RecurrentState, IsWrittenThroughItsView) {
  wane::recurrent_state<float> state(2, 2, 3, 4);
  wane::state_view<float> const mine = state;
  mine.values(1, 0, 2, 3) = 5;
  mine.positions[1] = 9;
  wane::state_view<float const> const yours = std::as_const(state);
  EXPECT_EQ(yours.values(1, 0, 2, 3), 5);
  EXPECT_EQ(yours.positions[1], 9);
  EXPECT_EQ(state.values()[(1 * 2 + 0) * 12 + 2 * 4 + 3], 5);
}

TEST(RecurrentState, OfOneSequenceLiesInTheSameMemory) {
  wane::recurrent_state<float> state(3, 2, 3, 4);
  wane::state_view<float> const one = state.sequence(2);
  EXPECT_EQ(one.values.extent[0], 1);
  one.values(0, 1, 2, 3) = 5, one.positions[0] = 9;
  EXPECT_EQ(wane::state_view(state).values(2, 1, 2, 3), 5);
  EXPECT_EQ(state.positions(), (std::vector<wane::index>{0, 0, 9}));
  EXPECT_EQ(std::as_const(state).sequence(2).values(0, 1, 2, 3), 5);
  EXPECT_EQ(wane::state_view<float>{one.values}.sequence(0).positions, nullptr);
  support::expect_error({"sequence is 3", "3 sequences"}, [&] { state.sequence(3); });
  support::expect_error({"sequence is -1"}, [&] { state.sequence(-1); });
}

TEST(RecurrentState, AbsentIsNotPresent) {
  EXPECT_FALSE(wane::state_view<float>{}.present());
  wane::recurrent_state<float> state(1, 1, 1, 1);
  EXPECT_TRUE(static_cast<wane::state_view<float>>(state).present());
}

TEST(RecurrentState, SaysWhichExtentIsWrong) {
  support::expect_error({"sequences", "-1"}, [] { wane::recurrent_state<float>(-1, 1, 1, 1); });
  support::expect_error({"heads", "-2"}, [] { wane::recurrent_state<float>(1, -2, 1, 1); });
  support::expect_error({"rows", "-3"}, [] { wane::recurrent_state<float>(1, 1, -3, 1); });
  support::expect_error({"columns", "-4"}, [] { wane::recurrent_state<float>(1, 1, 1, -4); });
  // Two wrong extents whose product is a size.
  support::expect_error({"heads", "-1"}, [] { wane::recurrent_state<float>(1, -1, -1, 1); });
}

// 2^64 numbers would be counted as none, and 2^62 floats have more bytes than an address counts.
TEST(RecurrentState, RefusesMoreNumbersThanMemoryHas) {
  constexpr wane::index large = wane::index{1} << 32;
  auto const must_be = "their product must be at most 2305843009213693951";
  support::expect_error({"1 sequences, 4294967296 heads, 4294967296 rows and 1 columns", must_be},
                        [] { wane::recurrent_state<float>(1, large, large, 1); });
  support::expect_error({must_be}, [] { wane::recurrent_state<float>(1, 1, large, large >> 2); });
  support::expect_error({"1152921504606846975"},
                        [] { wane::recurrent_state<double>(1, 1, large, large >> 3); });
  EXPECT_TRUE(wane::recurrent_state<float>(1, large, large, 0).values().empty());
}

TEST(StateView, ToReadComesFromOneToWrite) {
  // As a view of values does: a state to write may be handed over as a state to read.
  constexpr bool converts =
      std::is_convertible_v<wane::state_view<float>, wane::state_view<float const>>;
  EXPECT_TRUE(converts);
}

}  // namespace
