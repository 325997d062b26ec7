// Heads in groups, scale and normalisation of the keyed memories, shown on one token or two.
// SPDX-License-Identifier: MIT
#include "wane/operators/parts/keyed.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "wane/core/numbers/storage.hpp"
#include "wane/operators/gla.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

namespace {

using wane::head_groups, wane::index, wane::keyed_options, wane::sequence_view;
using memory = wane::gla<double, wane::no_gate>;

static_assert(std::is_trivially_copyable_v<memory>);  // a kernel needs this
static_assert(std::is_same_v<memory::accumulate, double>);
static_assert(std::is_same_v<wane::gla<wane::bfloat16>::accumulate, float>);

// One token of H heads that writes 1 under its key and reads it again: scale q.k for each head.
std::vector<double> recalled(std::vector<double> const& query, std::vector<double> const& key,
                             index heads, index rows, keyed_options const& options) {
  auto const groups = static_cast<index>(key.size()) / rows;
  std::vector<double> const ones(static_cast<std::size_t>(heads), 1.);
  std::vector<double> y(ones.size());
  wane::run(memory({.query = {query.data(), 1, 1, groups, rows},
                    .key = {key.data(), 1, 1, groups, rows},
                    .value = {ones.data(), 1, 1, heads, 1}},
                   {}, options),
            {y.data(), 1, 1, heads, 1});
  return y;
}

using numbers = std::vector<double>;

TEST(KeyedMemory, ScalesByTheRootOfItsRowsWhenNothingIsSaid) {
  EXPECT_EQ(recalled({1, 2, 3, 4}, {1, 1, 1, 1}, 1, 4, {}), numbers{5});
  EXPECT_EQ(recalled({1, 2, 3, 4}, {1, 1, 1, 1}, 1, 4, {.scale = 1}), numbers{10});
  EXPECT_EQ(recalled({1, 2, 3, 4}, {1, 1, 1, 1}, 1, 4, {.scale = -3}), numbers{-30});
  EXPECT_EQ(recalled({1, 2, 3, 4}, {1, 1, 1, 1}, 1, 4, {.scale = 0}), numbers{0});
}

TEST(KeyedMemory, SharesHeadsAsRepeatInterleaveOrAsRepeatWould) {
  numbers const one{1, 1}, two{3, 5};
  keyed_options options{.scale = 1};
  EXPECT_EQ(recalled(one, two, 6, 1, options), (numbers{3, 3, 3, 5, 5, 5}));
  options.groups = head_groups::tiled;
  EXPECT_EQ(recalled(one, two, 6, 1, options), (numbers{3, 5, 3, 5, 3, 5}));
  for (head_groups groups : {head_groups::interleaved, head_groups::tiled}) {
    options.groups = groups;
    EXPECT_EQ(recalled(one, two, 2, 1, options), two);
    EXPECT_EQ(recalled({1}, {7}, 3, 1, options), (numbers{7, 7, 7}));
  }
}

TEST(KeyedMemory, NormalisesQueriesAndKeys) {
  keyed_options options{.scale = 1, .normalise = true, .epsilon = 0};
  EXPECT_DOUBLE_EQ(recalled({3, 4}, {30, 40}, 1, 2, options)[0], 1);
  EXPECT_DOUBLE_EQ(recalled({3, 4}, {-4, 3}, 1, 2, options)[0], 0);
  EXPECT_DOUBLE_EQ(recalled({0, 3}, {4, 3}, 1, 2, options)[0], 3. / 5);
  options.epsilon = 11;  // |(3, 4)|^2 + 11 = 6^2
  EXPECT_DOUBLE_EQ(recalled({3, 4}, {3, 4}, 1, 2, options)[0], 25. / 36);
  options.epsilon = 1e-6;  // a key of zeros has no direction
  EXPECT_EQ(recalled({0, 0}, {3, 4}, 1, 2, options)[0], 0);
}

// Rows c (3, 4, 12): the squares of the largest overflow, those of the smallest underflow.
template <class T>
void expect_normalised_at_every_length() {
  keyed_options const options{.scale = 1, .normalise = true, .epsilon = 0};
  using op_type = wane::gla<T, wane::no_gate>;
  int const most = std::numeric_limits<T>::max_exponent - 20;  // gradients are normal numbers
  for (int exponent : {0, -most, -most / 2, most / 2, most}) {
    T const c = std::ldexp(T(1), exponent);
    std::vector<T> const key{3 * c, 4 * c, 12 * c}, query{1, -2, 5}, one{1};
    std::vector<T> y(1), to_query(3), to_key(3), to_value(1);
    auto const row = [](auto& x) {
      using number = std::remove_pointer_t<decltype(x.data())>;
      return sequence_view<number>(x.data(), 1, 1, 1, static_cast<index>(x.size()));
    };
    op_type const op({.query = row(query), .key = row(key), .value = row(one)}, {}, options);
    wane::run(op, row(y));
    T const length = std::sqrt(T(30)), match = 55 / (13 * length);
    EXPECT_NEAR(y[0] / match, 1, 1e-6) << exponent;
    typename op_type::gradients const to{
        .query = row(to_query), .key = row(to_key), .value = row(to_value)};
    wane::adjoint(op, row(one), to, wane::adjoint_options<T>{});
    for (std::size_t i = 0; i < 3; ++i) {
      T const unit = key[i] / c / 13;
      EXPECT_NEAR(to_key[i] * c, (query[i] / length - match * unit) / 13, 1e-6) << exponent;
      EXPECT_NEAR(to_query[i], (unit - match * query[i] / length) / length, 1e-6) << exponent;
    }
  }
}
TEST(KeyedMemory, NormalisesRowsOfAnyLength) {
  expect_normalised_at_every_length<float>();
  expect_normalised_at_every_length<double>();
}

TEST(SumOverGroups, AddsTheHeadsThatShareOne) {
  // Two tokens, six heads, one row.
  double const from[] = {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60};
  double to[4];
  sequence_view<double const> const heads(from, 1, 2, 6, 1);
  sequence_view<double> const sums(to, 1, 2, 2, 1);
  wane::sum_over_groups(heads, sums);
  EXPECT_EQ(numbers(to, to + 4), (numbers{6, 15, 60, 150}));
  wane::sum_over_groups(heads, sums, head_groups::tiled);
  EXPECT_EQ(numbers(to, to + 4), (numbers{9, 12, 90, 120}));
}

TEST(SumOverGroups, OfOneHeadEachIsACopyAndRoundsOnce) {
  // 256 + 1 + 1 is 258, a bfloat16. 256 + 1 is no bfloat16 and would round to 256.
  wane::bfloat16 const from[] = {wane::bfloat16(256.f), wane::bfloat16(1.f), wane::bfloat16(1.f)};
  wane::bfloat16 to[3];
  sequence_view<wane::bfloat16 const> const heads(from, 1, 1, 3, 1);
  wane::sum_over_groups(heads, sequence_view<wane::bfloat16>(to, 1, 1, 1, 1));
  EXPECT_EQ(static_cast<float>(to[0]), 258.f);
  wane::sum_over_groups(heads, sequence_view<wane::bfloat16>(to, 1, 1, 3, 1));
  for (int h = 0; h < 3; ++h) EXPECT_EQ(to[h].bits, from[h].bits);
}

}  // namespace
