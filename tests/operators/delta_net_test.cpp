// delta_net is S <- (I - beta k k^T) S + beta k v^T, y = scale S^T q.
// SPDX-License-Identifier: MIT
#include "wane/operators/delta_net.hpp"

#include <gtest/gtest.h>

#include "support/memory_case.hpp"

namespace {

using wane::delta_net;

static_assert(wane::affine_recurrence<delta_net<float>> && !wane::scannable<delta_net<float>>);
static_assert(wane::is_delta_rule<wane::token_of<delta_net<float>>>);

template <class Io>
class DeltaNet : public testing::Test {};
using Types = testing::Types<float, double, wane::bfloat16, wane::float16>;
TYPED_TEST_SUITE(DeltaNet, Types);

TYPED_TEST(DeltaNet, IsItsFormula) {
  support::for_each_memory<TypeParam>([](auto& c) {
    auto inputs = c.naive();
    inputs.strength = c.strength;
    c.expect(delta_net<TypeParam>(c.delta_in(), c.shape.options), inputs,
             [](auto&... token) { return support::naive_delta<double>(token...); });
  });
}

// A strength of 1 replaces the value held under a key of length 1.
TEST(DeltaNetRecall, FindsTheLastValueOfAKey) {
  double const keys[] = {0.6, 0.8, 0.8, -0.6, 0.6, 0.8}, values[] = {5, 7, 11}, ones[] = {1, 1, 1};
  double y[3];
  wane::sequence_view<double const> const key(keys, 1, 3, 1, 2);
  wane::run(
      delta_net<double>(
          {.query = key, .key = key, .value = {values, 1, 3, 1, 1}, .strength = {ones, 1, 3, 1}},
          {.scale = 1}),
      {y, 1, 3, 1, 1});
  for (int t = 0; t < 3; ++t) EXPECT_NEAR(y[t], values[t], 1e-14);
}

}  // namespace
