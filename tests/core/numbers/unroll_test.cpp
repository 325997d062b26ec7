// unroll: the body once for every number, in order, each a constant.
// SPDX-License-Identifier: MIT
#include "wane/core/numbers/unroll.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

TEST(Unroll, CallsTheBodyInOrderWithConstants) {
  std::vector<int> seen;
  wane::impl::unroll<4>([&](auto n) {
    static_assert(decltype(n)::value < 4);
    seen.push_back(n);
  });
  EXPECT_EQ(seen, (std::vector{0, 1, 2, 3}));
  wane::impl::unroll<0>([&](auto) { seen.clear(); });
  EXPECT_EQ(seen.size(), 4u);
}

}  // namespace
