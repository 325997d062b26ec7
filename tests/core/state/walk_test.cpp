// Walks: which tokens, in which order, at which positions.
// SPDX-License-Identifier: MIT
#include "wane/core/state/walk.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using wane::direction;
using wane::index;

struct options {
  wane::packed_sequences packed = {};
  std::span<index const> lengths = {};
  wane::direction direction = direction::forward;
};

wane::recurrence_shape const shape{1, 10, 2, 1, 1};
std::vector<index> const starts{0, 4, 4, 10};

TEST(Walk, GoesThroughItsSequenceEitherWay) {
  index const seen[] = {100, 200, 300};
  for (direction way : {direction::forward, direction::reverse}) {
    // Number 5: the third sequence, head 1.
    wane::impl::walk const w = wane::impl::walk_of(5, shape, options{{starts}, {}, way}, seen);
    EXPECT_EQ(w.sequence, 2);
    ASSERT_EQ(w.count, 6);
    for (index k = 0; k < 6; ++k) {
      wane::place<> const at = w.token(k);
      EXPECT_EQ(at.batch, 0);
      EXPECT_EQ(at.head, 1);
      EXPECT_EQ(at.time, way == direction::forward ? 4 + k : 9 - k);
      EXPECT_EQ(at.position, 301 + k);
    }
  }
}

TEST(Walk, HasPartsThatGoOnWhereItWas) {
  wane::impl::walk const w =
      wane::impl::walk_of(4, shape, options{{starts}, {}, direction::reverse}, nullptr);
  wane::impl::walk const part = w.part(4, 5);
  EXPECT_EQ(part.count, 2);
  EXPECT_EQ(part.token(0).time, w.token(4).time);
  EXPECT_EQ(part.token(1).position, 6);
}

TEST(Walk, MayBeEmpty) {
  EXPECT_EQ(wane::impl::walk_of(2, shape, options{{starts}}, nullptr).count, 0);
}

}  // namespace
