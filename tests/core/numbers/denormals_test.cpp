// flush_denormals: denormal numbers are zero while it lives; the old setting returns after it.
// SPDX-License-Identifier: MIT
#include "wane/core/numbers/denormals.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

float half_of_the_least() {
  float volatile least = std::numeric_limits<float>::min();
  return least * 0.5f;
}

TEST(FlushDenormals, EndsWithItsScope) {
#if !defined(__x86_64__) && !defined(__aarch64__)
  GTEST_SKIP() << "flush_denormals does nothing on this processor";
#endif
  EXPECT_GT(half_of_the_least(), 0.f);
  {
    wane::impl::flush_denormals const guard;
    EXPECT_EQ(half_of_the_least(), 0.f);
    { wane::impl::flush_denormals const inner; }
    EXPECT_EQ(half_of_the_least(), 0.f);
  }
  EXPECT_GT(half_of_the_least(), 0.f);
}

}  // namespace
