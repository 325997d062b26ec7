// gla is S <- diag(e^g) S + k v^T, y = scale S^T q, with a decay a row, a head, or none.
// SPDX-License-Identifier: MIT
#include "wane/operators/gla.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/memory_case.hpp"
#include "wane/run/adjoint.hpp"

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

// A model in bfloat16 whose log decays are float, as flash-linear-attention's are.
TEST(Gla, InSixteenBitsGivesTheGradientOfFloatLogDecaysInFloat) {
  wane::index const tokens = 3, rows = 2;
  std::vector<float> const log_decay{-0.1f, -0.2f, -0.3f, 0, -1, -0.01f};
  sequence_view<float const> const gate{log_decay.data(), 1, tokens, 1, rows};
  auto const gradient = [&]<class Io>(Io) {
    std::vector<Io> const ones(tokens * rows, Io(1)), halves(tokens * rows, Io(0.5f));
    sequence_view<Io const> const x{ones.data(), 1, tokens, 1, rows},
        y{halves.data(), 1, tokens, 1, rows};
    gla const memory(wane::keyed_inputs<Io>{.query = x, .key = y, .value = x}, gate);
    std::vector<float> by_decay(tokens * rows, std::nanf(""));
    wane::adjoint(memory, y, {.log_decay = {by_decay.data(), 1, tokens, 1, rows}});
    return by_decay;
  };
  EXPECT_EQ(gradient(wane::bfloat16()), gradient(0.0f));
}

}  // namespace
