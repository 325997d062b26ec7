// gated_delta_net is S <- e^g (I - beta k k^T) S + beta k v^T, y = scale S^T q.
// SPDX-License-Identifier: MIT
#include "wane/operators/gated_delta_net.hpp"

#include <gtest/gtest.h>

#include "support/memory_case.hpp"

namespace {

using wane::gated_delta_net;

static_assert(wane::affine_recurrence<gated_delta_net<float>> &&
              !wane::scannable<gated_delta_net<float>>);
static_assert(wane::is_delta_rule<wane::token_of<gated_delta_net<float>>>);

template <class Io>
class GatedDeltaNet : public testing::Test {};
using Types = testing::Types<float, double, wane::bfloat16, wane::float16>;
TYPED_TEST_SUITE(GatedDeltaNet, Types);

TYPED_TEST(GatedDeltaNet, IsItsFormula) {
  support::for_each_memory<TypeParam>([](auto& c) {
    auto inputs = c.naive();
    inputs.strength = c.strength;
    inputs.log_decay = c.head_decay;
    c.expect(gated_delta_net<TypeParam>(
                 c.delta_in(), support::by_token<TypeParam const>(c.head_decay), c.shape.options),
             inputs, [](auto&... token) { return support::naive_delta<double>(token...); });
  });
}

}  // namespace
