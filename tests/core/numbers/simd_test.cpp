// simd: every operation is the operation on each number.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "support/random_values.hpp"
#include "wane/core/numbers/simd_lanes.hpp"

namespace {

using wane::simd;

template <class Vector>
class Simd : public testing::Test {
 public:
  Vector random() {
    typename Vector::scalar values[Vector::width];
    for (auto& x : values) x = static_cast<typename Vector::scalar>(random_.uniform(-3, 3));
    return Vector::load(values);
  }

 private:
  support::random_values random_;
};

using Vectors =
    testing::Types<simd<float, wane::simd_width<float>>, simd<double, wane::simd_width<double>>,
                   simd<float, 4>, simd<double, 2>, simd<float, 2>>;
TYPED_TEST_SUITE(Simd, Vectors);

TYPED_TEST(Simd, ArithmeticIsThatOfEachNumber) {
  using V = TypeParam;
  constexpr int W = V::width;
  V const a = this->random(), b = this->random();
  V sum = a;
  sum += b;
  for (int l = 0; l < W; ++l) {
    EXPECT_EQ((a + b)[l], a[l] + b[l]);
    EXPECT_EQ((a - b)[l], a[l] - b[l]);
    EXPECT_EQ((a * b)[l], a[l] * b[l]);
    EXPECT_EQ((a / b)[l], a[l] / b[l]);
    EXPECT_EQ((-a)[l], -a[l]);
    EXPECT_EQ(sum[l], a[l] + b[l]);
  }
}

TYPED_TEST(Simd, OneNumberFillsAllLanesWithItsOwnSign) {
  using V = TypeParam;
  using T = typename V::scalar;
  constexpr int W = V::width;
  for (T x : {T(1.5), T(0), T(-0.0), std::numeric_limits<T>::infinity(),
              std::numeric_limits<T>::denorm_min(), -std::numeric_limits<T>::max()})
    for (int l = 0; l < W; ++l) {
      T const lane = V(x)[l];
      EXPECT_EQ(std::memcmp(&lane, &x, sizeof x), 0) << x;
    }
}

TYPED_TEST(Simd, MultiplyAddRoundsOnceOrTwice) {
  using V = TypeParam;
  using T = typename V::scalar;
  constexpr int W = V::width;
  V const a = this->random(), b = this->random(), c = this->random();
  V const y = wane::multiply_add(a, b, c);
  for (int l = 0; l < W; ++l) {
    // Rounding the product errs by half an ulp of it, |a b| <= 9.
    EXPECT_NEAR(y[l], std::fma(a[l], b[l], c[l]), 9 * std::numeric_limits<T>::epsilon());
  }
}

TYPED_TEST(Simd, WhereZeroChoosesWithoutLookingAtTheOther) {
  using V = TypeParam;
  using T = typename V::scalar;
  constexpr int W = V::width;
  T const nan = std::numeric_limits<T>::quiet_NaN();
  T keep[W];
  for (int l = 0; l < W; ++l) keep[l] = l % 3 == 0 ? T(0) : l % 3 == 1 ? T(-0.0) : T(2);
  V const y = wane::where_zero(V::load(keep), V(T(7)), V(nan));
  for (int l = 0; l < W; ++l) {
    if (l % 3 == 2)
      EXPECT_TRUE(std::isnan(y[l]));
    else
      EXPECT_EQ(y[l], T(7));
  }
  EXPECT_EQ(wane::where_zero(T(-0.0), T(7), nan), T(7));
  EXPECT_TRUE(std::isnan(wane::where_zero(nan, T(7), nan)));
}

TYPED_TEST(Simd, ConvertsEachNumber) {
  using V = TypeParam;
  using T = typename V::scalar;
  constexpr int W = V::width;
  V const x = this->random();
  auto const narrow = wane::convert<float>(x);
  auto const same = wane::convert<T>(x);
  for (int l = 0; l < W; ++l) {
    EXPECT_EQ(narrow[l], static_cast<float>(x[l]));
    EXPECT_EQ(same[l], x[l]);
  }
}

TYPED_TEST(Simd, BoundsKeepNaN) {
  using V = TypeParam;
  using T = typename V::scalar;
  constexpr int W = V::width;
  T const nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (T x : {T(-2), T(1), T(5), inf, -inf, nan}) {
    T const low = x < T(0) ? T(0) : x, high = x > T(3) ? T(3) : x;
    for (int l = 0; l < W; ++l) {
      T const at_least = wane::at_least(V(T(0)), V(x))[l],
              at_most = wane::at_most(V(T(3)), V(x))[l];
      if (std::isnan(x)) {
        EXPECT_TRUE(std::isnan(at_least) && std::isnan(at_most));
      } else {
        EXPECT_EQ(at_least, low);
        EXPECT_EQ(at_most, high);
      }
    }
    EXPECT_TRUE(std::isnan(x) ||
                (wane::at_least(T(0), x) == low && wane::at_most(T(3), x) == high));
  }
  EXPECT_TRUE(std::isnan(wane::at_least(T(0), nan)) && std::isnan(wane::at_most(T(0), nan)));
}

TYPED_TEST(Simd, ShiftsTakeTheirFirstLanesFromTheEndOfTheVectorBefore) {
  using V = TypeParam;
  constexpr int W = V::width;
  V const x = this->random(), before = this->random();
  V const one = wane::impl::shift_up<1>(x, before), half = wane::impl::shift_up<W / 2>(x, before);
  for (int l = 0; l < W; ++l) {
    EXPECT_EQ(one[l], l < 1 ? before[W - 1] : x[l - 1]);
    EXPECT_EQ(half[l], l < W / 2 ? before[l + W / 2] : x[l - W / 2]);
  }
}

TYPED_TEST(Simd, RepeatsAndReversesGroups) {
  using V = TypeParam;
  constexpr int W = V::width;
  V const x = this->random();
  V const last = wane::impl::repeat_last<1>(x), last_half = wane::impl::repeat_last<W / 2>(x);
  V const turned = wane::impl::reverse_groups<1>(x), halves = wane::impl::reverse_groups<W / 2>(x);
  for (int l = 0; l < W; ++l) {
    EXPECT_EQ(last[l], x[W - 1]);
    EXPECT_EQ(last_half[l], x[W / 2 + l % (W / 2)]);
    EXPECT_EQ(turned[l], x[W - 1 - l]);
    EXPECT_EQ(halves[l], x[(l + W / 2) % W]);
  }
  V const all = wane::impl::reverse_groups<W>(x);
  for (int l = 0; l < W; ++l) EXPECT_EQ(all[l], x[l]);
}

TYPED_TEST(Simd, FindsNaNAndInfinityInEveryLane) {
  using V = TypeParam;
  using T = typename V::scalar;
  constexpr int W = V::width;
  T values[W];
  for (T& x : values) x = std::numeric_limits<T>::max();
  EXPECT_TRUE(wane::impl::all_finite(V::load(values)));
  for (int l = 0; l < W; ++l) {
    T const kept = values[l];
    values[l] = -std::numeric_limits<T>::infinity();
    EXPECT_FALSE(wane::impl::all_finite(V::load(values)));
    values[l] = std::numeric_limits<T>::quiet_NaN();
    EXPECT_FALSE(wane::impl::all_finite(V::load(values)));
    values[l] = kept;
  }
}

TYPED_TEST(Simd, ComparesLaneByLane) {
  using V = TypeParam;
  using T = typename V::scalar;
  constexpr int W = V::width;
  V x = this->random(), bound = this->random();
  x.v[1] = bound.v[1];
  x.v[0] = std::numeric_limits<T>::quiet_NaN();
  unsigned const below = wane::impl::lanes_below(x, bound);
  V const chosen = wane::where_below(x, bound, V(T(1)), V(T(2)));
  for (int l = 0; l < W; ++l) {
    EXPECT_EQ((below >> l & 1u) == 1u, x[l] < bound[l]);
    EXPECT_EQ(chosen[l], wane::where_below(x[l], bound[l], T(1), T(2)));
    EXPECT_EQ(chosen[l], x[l] < bound[l] ? T(1) : T(2));
  }
  EXPECT_EQ(below >> W, 0u);
  EXPECT_FALSE(wane::impl::all_below(x, V(T(100))));
  x.v[0] = 0;
  EXPECT_TRUE(wane::impl::all_below(x, V(T(100))));
}

TYPED_TEST(Simd, SumAddsHalvesUntilOneLaneIsLeft) {
  using V = TypeParam;
  V const x = this->random();
  V rest = x;
  for (int half = V::width / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) rest.v[l] += rest[l + half];
  EXPECT_EQ(wane::impl::sum(x), rest[0]);
}

TYPED_TEST(Simd, LoadsAndStoresAtAnyAddress) {
  using V = TypeParam;
  using T = typename V::scalar;
  constexpr int W = V::width;
  for (int offset = 0; offset < W; ++offset) {
    std::vector<T> from(2 * W), to(2 * W, T(-1));
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i);
    V::load(from.data() + offset).store(to.data() + offset);
    for (int i = 0; i < 2 * W; ++i)
      EXPECT_EQ(to[static_cast<std::size_t>(i)],
                i >= offset && i < offset + W ? static_cast<T>(i) : T(-1));
  }
}

TYPED_TEST(Simd, StreamsLikeAStore) {
  using V = TypeParam;
  using T = typename V::scalar;
  constexpr int W = V::width;
  V const x = this->random();
  alignas(128) T to[2 * W] = {};
  wane::impl::stream(to + W, x);
  wane::impl::stream_fence();
  for (int l = 0; l < W; ++l) {
    EXPECT_EQ(to[l], T(0));
    EXPECT_EQ(to[W + l], x[l]);
  }
}

TYPED_TEST(Simd, PartialLoadsAndStoresKeepToTheirCount) {
  using V = TypeParam;
  using T = typename V::scalar;
  constexpr int W = V::width;
  V const x = this->random();
  for (int count = 0; count < W; ++count) {
    T from[W], to[W];
    for (int l = 0; l < W; ++l) from[l] = static_cast<T>(l + 1), to[l] = T(-1);
    V const loaded = wane::impl::load_first<T, W>(from, count);
    wane::impl::store_first(to, count, x);
    for (int l = 0; l < W; ++l) {
      EXPECT_EQ(loaded[l], l < count ? from[l] : T(0));
      EXPECT_EQ(to[l], l < count ? x[l] : T(-1));
    }
  }
}

}  // namespace
