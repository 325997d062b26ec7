// gla is S <- diag(e^g) S + k v^T, y = scale S^T q, with a decay a row, a head, or none.
// SPDX-License-Identifier: MIT
#include "wane/operators/gla.hpp"

#include <gtest/gtest.h>

#include "support/memory_case.hpp"

namespace {

using wane::gla, wane::no_gate, wane::sequence_view, wane::token_view;

static_assert(wane::scannable<gla<float>>);
static_assert(wane::scannable<gla<double, token_view<double const>>>);
static_assert(!wane::has_erase<wane::token_of<gla<float>>>);

template <class Io>
class Gla : public testing::Test {};
using Types = testing::Types<float, double, wane::bfloat16, wane::float16>;
TYPED_TEST_SUITE(Gla, Types);

auto const formula = [](auto&... token) { return support::naive_gla<double>(token...); };

TYPED_TEST(Gla, IsItsFormulaWithADecayARow) {
  support::for_each_memory<TypeParam>([](auto& c) {
    auto inputs = c.naive();
    inputs.log_decay = c.row_decay;
    c.expect(gla<TypeParam>(c.in(), c.row_decay, c.shape.options), inputs, formula);
  });
}

TYPED_TEST(Gla, IsItsFormulaWithADecayAHead) {
  support::for_each_memory<TypeParam>([](auto& c) {
    auto inputs = c.naive();
    inputs.log_decay = c.head_decay;
    auto const gate = support::by_token<TypeParam const>(c.head_decay);
    c.expect(gla(c.in(), gate, c.shape.options), inputs, formula);
  });
}

TYPED_TEST(Gla, IsLinearAttentionWithoutADecay) {
  support::for_each_memory<TypeParam>([](auto& c) {
    c.expect(gla<TypeParam, no_gate>(c.in(), {}, c.shape.options), c.naive(), formula);
  });
}

}  // namespace
