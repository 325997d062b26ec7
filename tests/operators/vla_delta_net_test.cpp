// vla_delta_net is S <- beta S + k (v - S^T k)^T, y = scale S^T q.
// SPDX-License-Identifier: MIT
#include "wane/operators/vla_delta_net.hpp"

#include <gtest/gtest.h>

#include "support/memory_case.hpp"
#include "wane/operators/gated_delta_net.hpp"

namespace {

using wane::vla_delta_net;

static_assert(!wane::scannable<vla_delta_net<float>>);
static_assert(wane::is_delta_rule<wane::token_of<vla_delta_net<float>>>);
static_assert(wane::reads_lanes<vla_delta_net<wane::float16>>);

template <class Io>
class VlaDeltaNet : public ::testing::Test {};
using Types = ::testing::Types<float, double, wane::bfloat16, wane::float16>;
TYPED_TEST_SUITE(VlaDeltaNet, Types);

TYPED_TEST(VlaDeltaNet, IsItsFormula) {
  support::for_each_memory<TypeParam>([](auto& c) {
    support::random_values random;
    c.strength.fill([&](auto...) { return random.uniform(0, 1); });
    auto inputs = c.naive();
    inputs.strength = c.strength;
    auto const in = c.delta_in();
    c.expect(vla_delta_net<TypeParam>(
                 {.query = in.query, .key = in.key, .value = in.value, .decay = in.strength},
                 c.shape.options),
             inputs, [](auto&... token) { return support::naive_vla_delta<double>(token...); });
  });
}

// Two writes under one key with beta 1/2: the error is taken from 8, not from the decayed 4.
TEST(VlaDeltaNetRecall, IsNotThatOfAGatedDeltaNet) {
  double const key[] = {1, 1}, value[] = {8, 8}, half[] = {0.5, 0.5}, ones[] = {1, 1},
               log_half[] = {std::log(0.5), std::log(0.5)};
  double y[2];
  wane::sequence_view<double const> const k(key, 1, 2, 1, 1), v(value, 1, 2, 1, 1);
  wane::sequence_view<double> const to(y, 1, 2, 1, 1);
  wane::run(vla_delta_net<double>({.query = k, .key = k, .value = v, .decay = {half, 1, 2, 1}},
                                  {.scale = 1}),
            to);
  EXPECT_EQ(y[1], 4);
  wane::run(
      wane::gated_delta_net<double>({.query = k, .key = k, .value = v, .strength = {ones, 1, 2, 1}},
                                    {log_half, 1, 2, 1}, {.scale = 1}),
      to);
  EXPECT_NEAR(y[1], 8, 1e-14);
}

}  // namespace
