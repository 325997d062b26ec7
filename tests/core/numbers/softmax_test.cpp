// Parts of softmax: where scores are -inf or far below the greatest, products with weights are 0.
// SPDX-License-Identifier: MIT
#include "wane/core/numbers/softmax.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

template <class T>
class Softmax : public testing::Test {};
using numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(Softmax, numbers);

TYPED_TEST(Softmax, WeighsNothingWhereItsLogarithmEnds) {
  using T = TypeParam;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  for (T score : {-infinity, std::numeric_limits<T>::lowest(), T(-2000)}) {
    T const log = wane::impl::log_weight(score, T(0));
    EXPECT_TRUE(std::isfinite(log));
    EXPECT_EQ(wane::impl::exponential(log), T(0));
    EXPECT_EQ(wane::impl::exponential(log) * log, T(0));
  }
  EXPECT_EQ(wane::impl::log_weight(T(3), T(5)), T(-2));
  EXPECT_TRUE(std::isnan(wane::impl::log_weight(T(NAN), T(5))));
  EXPECT_TRUE(std::isnan(wane::impl::log_weight(infinity, infinity)));
}

TYPED_TEST(Softmax, HasALevelThatIsFiniteBelow) {
  using T = TypeParam;
  constexpr T infinity = std::numeric_limits<T>::infinity(),
              least = std::numeric_limits<T>::lowest();
  EXPECT_EQ(wane::impl::softmax_level(-infinity), T(0));
  EXPECT_EQ(wane::impl::softmax_level(least), least);
  EXPECT_EQ(wane::impl::softmax_level(T(7)), T(7));
  EXPECT_EQ(wane::impl::softmax_level(infinity), infinity);
}

}  // namespace
