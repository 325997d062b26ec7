// Views: any strides, numbers and lanes, rounding to the stored type, and absence.
// SPDX-License-Identifier: MIT
#include "wane/core/recurrence/view.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <numeric>
#include <vector>

#include "support/tensor.hpp"

namespace {

using support::arrangement;
using wane::index;
using wane::place;
using wane::sequence_view;

// A number of its own for every element, small enough for 16-bit types.
double label(index b, index t, index h, index c) {
  return static_cast<double>(b * 64 + t * 16 + h * 4) + static_cast<double>(c) / 8;
}

template <class T>
class Views : public testing::Test {};
using Stored = testing::Types<float, double, wane::float16>;
TYPED_TEST_SUITE(Views, Stored);

TYPED_TEST(Views, FindTheirElementsWithAnyStrides) {
  using T = TypeParam;
  for (arrangement how : support::all_arrangements) {
    support::tensor<T> x(2, 3, 2, 5, how);
    x.fill(label);
    x.for_each([&](index b, index t, index h, index c) {
      EXPECT_EQ(static_cast<double>(x.view().read(place<>{b, t, h}, c)), label(b, t, h, c));
    });
    EXPECT_TRUE(x.margins_untouched());
  }
}

TYPED_TEST(Views, ReadAndWriteLanesOfColumns) {
  using T = TypeParam;
  constexpr int W = wane::simd_width<wane::widened<T>>;
  for (arrangement how : {arrangement::plain, arrangement::odd, arrangement::padded}) {
    support::tensor<T> x(2, 3, 2, W + 3, how);
    x.fill(label);
    auto const whole = x.view().read(place<>{1, 2, 1}, wane::lanes<W>{2});
    auto const part = x.view().read(place<>{1, 2, 1}, wane::partial_lanes<W>{W + 1, 2});
    for (int l = 0; l < W; ++l) {
      EXPECT_EQ(static_cast<double>(whole[l]), label(1, 2, 1, 2 + l));
      EXPECT_EQ(static_cast<double>(part[l]), l < 2 ? label(1, 2, 1, W + 1 + l) : 0);
    }
    x.view().write(place<>{0, 1, 0}, wane::lanes<W>{1}, whole);
    x.view().write(place<>{0, 1, 1}, wane::partial_lanes<W>{W, 3 % W}, whole);
    for (int l = 0; l < W; ++l) {
      EXPECT_EQ(static_cast<double>(static_cast<float>(x(0, 1, 0, 1 + l))), label(1, 2, 1, 2 + l));
      if (l >= 3 % W) continue;
      EXPECT_EQ(static_cast<double>(static_cast<float>(x(0, 1, 1, W + l))), label(1, 2, 1, 2 + l));
    }
    EXPECT_EQ(static_cast<double>(static_cast<float>(x(0, 1, 0, 0))), label(0, 1, 0, 0));
    EXPECT_EQ(static_cast<double>(static_cast<float>(x(0, 1, 1, W - 1))), label(0, 1, 1, W - 1));
    EXPECT_TRUE(x.margins_untouched());
  }
}

template <int C, class T>
void expect_lanes_in_time() {
  constexpr int W = wane::simd_width<wane::widened<T>>, tokens = W / C;
  support::tensor<T> x(2, 2 * tokens, 1, C, arrangement::odd), y(2, 2 * tokens, 1, C);
  auto const number = [](index b, index t, index, index c) {
    return static_cast<double>(b * 1024 + t * C + c);  // below 2048: exact in float16
  };
  x.fill(number);
  y.fill([](auto...) { return 0; });
  for (int direction : {1, -1}) {
    index const first = direction > 0 ? 1 : 2 * tokens - 2;
    place<wane::time_lanes<W, C>> const at{1, {first, direction}, 0};
    wane::time_columns<C> const columns{0};
    auto const v = x.view().read(at, columns);
    y.view().write(at, columns, v);
    for (int l = 0; l < W; ++l) {
      index const t = first + direction * (l / C), c = l % C;
      EXPECT_EQ(static_cast<double>(v[l]), number(1, t, 0, c)) << C << " channels, lane " << l;
      EXPECT_EQ(static_cast<double>(static_cast<float>(y(1, t, 0, c))), number(1, t, 0, c));
    }
  }
  EXPECT_TRUE(y.margins_untouched());
}

TYPED_TEST(Views, ReadAndWriteLanesOfTokensBothWays) {
  expect_lanes_in_time<1, TypeParam>();
  expect_lanes_in_time<2, TypeParam>();
  if constexpr (wane::simd_width<wane::widened<TypeParam>> >= 8)
    expect_lanes_in_time<4, TypeParam>();
}

TYPED_TEST(Views, OfTokensSpreadTheirNumberOverTheChannels) {
  using T = TypeParam;
  constexpr int W = wane::simd_width<wane::widened<T>>;
  std::vector<T> numbers;
  for (int t = 0; t < W; ++t) numbers.push_back(T(static_cast<float>(t)));
  wane::token_view<T const> const x(numbers.data(), 1, W, 1);
  auto const up = x.read(place<wane::time_lanes<W, 2>>{0, {1, 1}, 0});
  auto const down = x.read(place<wane::time_lanes<W, 2>>{0, {W - 1, -1}, 0});
  for (int l = 0; l < W; ++l) {
    EXPECT_EQ(static_cast<float>(up[l]), static_cast<float>(1 + l / 2));
    EXPECT_EQ(static_cast<float>(down[l]), static_cast<float>(W - 1 - l / 2));
  }
  EXPECT_EQ(static_cast<float>(x.read(place<>{0, 2 % W, 0})), static_cast<float>(2 % W));
}

TEST(View, OfZeroStrideIsTheSameElementEverywhere) {
  float const one = 3;
  index const far = index{1} << 40;
  sequence_view<float const> const x(&one, {2, far + 1, 3, 4}, {0, 0, 0, 0});
  EXPECT_EQ(x.read(place<>{1, far, 2}, 3), 3);
  EXPECT_EQ(x(1, far, 2, 3), 3);
}

TEST(View, CountsStridesIn64Bits) {
  // Element [0, 2^33, 0, 0] with stride 1/2^33 of a vector lies behind an offset of 2^33 - 2^33.
  std::vector<float> numbers(4);
  std::iota(numbers.begin(), numbers.end(), 0.f);
  index const big = index{1} << 33;
  sequence_view<float const> const x(numbers.data(), {2, 2, 1, 1}, {big + 1, -big, 1, 1});
  EXPECT_EQ(x.read(place<>{1, 1, 0}, 0), 1);
}

TEST(View, WithoutGapsHasTheStridesOfItsExtents) {
  float numbers[120] = {};
  sequence_view<float> const x(numbers, 2, 3, 4, 5);
  EXPECT_EQ(x.stride[0], 60);
  EXPECT_EQ(x.stride[1], 20);
  EXPECT_EQ(x.stride[2], 5);
  EXPECT_EQ(x.stride[3], 1);
  sequence_view<float const> const read_only = x;
  EXPECT_EQ(&read_only(1, 2, 3, 4), numbers + 119);
}

TEST(View, OfSomeTokensBeginsWithTheFirst) {
  float numbers[24] = {};
  sequence_view<float> const x(numbers, 2, 4, 1, 3);
  auto const part = x.tokens(1, 3);
  EXPECT_EQ(part.extent[1], 2);
  EXPECT_EQ(&part(1, 0, 0, 0), &x(1, 1, 0, 0));
  EXPECT_EQ(sequence_view<float>().tokens(1, 3).data, nullptr);
}

TEST(View, ThatIsAbsentSwallowsWhatIsWritten) {
  sequence_view<float> const nothing;
  constexpr int W = wane::simd_width<float>;
  nothing.write(place<>{0, 0, 0}, 0, 1.f);
  nothing.write(place<>{0, 0, 0}, wane::lanes<W>{0}, wane::simd<float, W>(1.f));
  nothing.write(place<>{0, 0, 0}, wane::partial_lanes<W>{0, 1}, wane::simd<float, W>(1.f));
  nothing.write(place<wane::time_lanes<W, 1>>{0, {0, 1}, 0}, wane::time_columns<1>{0},
                wane::simd<float, W>(1.f));
}

TEST(Layout, IsWhatAllPresentTensorsHaveInCommon) {
  float numbers[64] = {};
  sequence_view<float> const absent, packed(numbers, 1, 4, 1, 4);
  sequence_view<float> const heads(numbers, 1, 4, 2, 4);
  sequence_view<float> const series(numbers, {1, 4, 1, 4}, {16, 1, 16, 4});
  EXPECT_TRUE(layout_of(packed, absent).columns && layout_of(packed, absent).tokens);
  EXPECT_FALSE(layout_of(packed).series);
  EXPECT_TRUE(layout_of(heads).columns);
  EXPECT_FALSE(layout_of(heads).tokens);
  EXPECT_TRUE(layout_of(series).series);
  EXPECT_FALSE(layout_of(series).columns);
  wane::layout const both = layout_of(packed) & layout_of(heads);
  EXPECT_TRUE(both.columns && !both.tokens && !both.series);
}

TEST(View, HoldsComplexNumbers) {
  std::complex<float> numbers[6] = {};
  sequence_view<std::complex<float>> const x(numbers, 1, 2, 1, 3);
  x.write(place<>{0, 1, 0}, 2, std::complex<float>(1, 2));
  EXPECT_EQ(x.read(place<>{0, 1, 0}, 2), std::complex<float>(1, 2));
}

}  // namespace
