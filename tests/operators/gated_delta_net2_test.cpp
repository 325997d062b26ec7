// gated_delta_net2 is S <- (I - k (b o k)^T) diag(e^g) S + k (w o v)^T, y = scale S^T q.
// SPDX-License-Identifier: MIT
#include "wane/operators/gated_delta_net2.hpp"

#include <gtest/gtest.h>

#include "support/erasing_problems.hpp"
#include "support/memory_case.hpp"
#include "support/memory_laws.hpp"
#include "wane/operators/kimi_delta_attention.hpp"

namespace {

using support::index;
using wane::gated_delta_net2;

static_assert(wane::is_delta_rule<wane::token_of<gated_delta_net2<float>>>);

template <class Io>
class GatedDeltaNet2 : public ::testing::Test {};
using Types = ::testing::Types<float, double, wane::bfloat16>;
TYPED_TEST_SUITE(GatedDeltaNet2, Types);

TYPED_TEST(GatedDeltaNet2, IsItsFormula) {
  support::for_each_memory<TypeParam>([](auto& c) {
    auto const& s = c.shape;
    support::tensor<TypeParam> write_gate(s.batch, s.time, s.heads, s.columns, s.how);
    support::random_values random(3);
    write_gate.fill([&](auto...) { return random.uniform(0, 1); });
    auto inputs = c.naive();
    inputs.rate = c.rate, inputs.log_decay = c.row_decay;
    auto const token = [&](auto const& in, auto& state, index b, index t, index h) {
      auto const row = [&](auto const& x) { return in.template row<double>(x, b, t, h); };
      auto const k = in.template direction<double>(in.key, b, t, h);
      state.fade(in.template decay<double>(b, t, h));
      auto const found = state.read(support::product(row(in.rate), k));
      state.write(
          k, support::difference(
                 support::product(row(std::as_const(write_gate).view()), row(in.value)), found));
      return state.read(support::times(in.scale, in.template direction<double>(in.query, b, t, h)));
    };
    c.expect(gated_delta_net2<TypeParam>({.query = c.query,
                                          .key = c.key,
                                          .value = c.value,
                                          .erase_gate = c.rate,
                                          .write_gate = write_gate},
                                         c.row_decay, s.options),
             inputs, token);
  });
}

template <class T>
using of_rows = wane::testing::gated_delta_net2_problem<T>;
template <class T>
using of_heads = wane::testing::gated_delta_net2_problem<T, wane::token_view<T const>>;
TEST(GatedDeltaNet2Laws, Hold) {
  support::expect_memory_laws<of_rows>();
  support::expect_memory_laws<of_heads>();
}
TEST(GatedDeltaNet2Laws, OfTheAdjointHold) {
  support::expect_memory_adjoint_laws<of_rows>();
  support::expect_memory_adjoint_laws<of_heads>();
}

}  // namespace
