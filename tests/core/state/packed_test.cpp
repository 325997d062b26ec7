// Packed sequences: valid and invalid lists of starts.
// SPDX-License-Identifier: MIT
#include "wane/core/state/packed.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/expect_error.hpp"

namespace {

using support::expect_error;
using starts = std::vector<wane::index>;

void check(starts const& list, wane::index batch, wane::index time) {
  wane::impl::check_sequences(wane::packed_sequences{list}, batch, time);
}

TEST(PackedSequences, OfNoListAreAbsentAndAskForNothing) {
  wane::packed_sequences const absent;
  EXPECT_FALSE(absent.present());
  EXPECT_NO_THROW(wane::impl::check_sequences(absent, 5, 7));
}

TEST(PackedSequences, MayBeEmptyOneOrMany) {
  EXPECT_NO_THROW(check({0, 7}, 1, 7));
  EXPECT_NO_THROW(check({0, 0, 3, 3, 3, 7, 7}, 1, 7));
  EXPECT_NO_THROW(check({0, 0}, 1, 0));
  EXPECT_NO_THROW(check({0}, 1, 0));
  starts const six = {0, 0, 3, 3, 3, 7, 7};
  EXPECT_EQ(wane::packed_sequences{six}.count(), 6);
}

TEST(PackedSequences, LieInOneRow) {
  expect_error({"batch is 2", "must be 1"}, [] { check({0, 7}, 2, 7); });
}

TEST(PackedSequences, BeginWithZero) {
  expect_error({"packed.starts", "begins with 1", "must begin with 0"}, [] {
    check({1, 7}, 1, 7);
  });
  expect_error({"begins with -3"}, [] { check({-3, 7}, 1, 7); });
}

TEST(PackedSequences, DoNotFall) {
  expect_error({"packed.starts[2] is 4", "less than 5", "must not fall"}, [] {
    check({0, 5, 4, 7}, 1, 7);
  });
  expect_error({"packed.starts[1] is -1"}, [] { check({0, -1, 7}, 1, 7); });
  expect_error({"packed.starts[2] is 7", "less than 9"}, [] { check({0, 9, 7}, 1, 7); });
}

TEST(PackedSequences, EndWithTheNumberOfTokens) {
  expect_error({"ends with 6", "must end with", "7"}, [] { check({0, 3, 6}, 1, 7); });
  expect_error({"ends with 8"}, [] { check({0, 3, 8}, 1, 7); });
  expect_error({"ends with 0"}, [] { check({0}, 1, 7); });
}

}  // namespace
