// kimi_delta_attention is S <- (I - beta k k^T) diag(e^g) S + beta k v^T, y = scale S^T q.
// SPDX-License-Identifier: MIT
#include "wane/operators/kimi_delta_attention.hpp"

#include <gtest/gtest.h>

#include "support/memory_case.hpp"

namespace {

using wane::kimi_delta_attention;

static_assert(wane::affine_recurrence<kimi_delta_attention<float>> &&
              !wane::scannable<kimi_delta_attention<float>>);
static_assert(wane::is_delta_rule<wane::token_of<kimi_delta_attention<float>>>);

template <class Io>
class KimiDeltaAttention : public ::testing::Test {};
using Types = ::testing::Types<float, double, wane::bfloat16, wane::float16>;
TYPED_TEST_SUITE(KimiDeltaAttention, Types);

TYPED_TEST(KimiDeltaAttention, IsItsFormula) {
  support::for_each_memory<TypeParam>([](auto& c) {
    auto inputs = c.naive();
    inputs.strength = c.strength;
    inputs.log_decay = c.row_decay;
    c.expect(kimi_delta_attention<TypeParam>(c.delta_in(), c.row_decay, c.shape.options), inputs,
             [](auto&... token) { return support::naive_delta<double>(token...); });
  });
}

}  // namespace
