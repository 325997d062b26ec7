// The keyed memories with extreme decays and strengths, zero keys, no tokens, NaN, and many tokens.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/memory_case.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/kimi_delta_attention.hpp"
#include "wane/operators/linear_attention.hpp"
#include "wane/operators/retnet.hpp"
#include "wane/operators/rwkv7.hpp"
#include "wane/operators/vla_delta_net.hpp"

namespace {

using support::by_token, support::memory_case, support::memory_shape, support::random_values;

template <class Io>
class MemoryHardInputs : public ::testing::Test {
 public:
  static void expect_gla_by_row(memory_case<Io>& c) {
    auto inputs = c.naive();
    inputs.log_decay = c.row_decay;
    c.expect(wane::gla<Io>(c.in(), c.row_decay, c.shape.options), inputs, gla_token);
  }
  static void expect_gla_by_head(memory_case<Io>& c) {
    auto inputs = c.naive();
    inputs.log_decay = c.head_decay;
    c.expect(wane::gla(c.in(), by_token<Io const>(c.head_decay), c.shape.options), inputs,
             gla_token);
  }
  // The features of linear attention are positive, unlike those of the other memories.
  static void expect_linear_attention(memory_case<Io>& c) {
    c.make_features();
    auto inputs = c.naive();
    inputs.floor = 1e-10, inputs.log_decay = c.row_decay;
    c.expect(wane::linear_attention(c.in(), c.row_decay.view(), {.keys = c.shape.options}), inputs,
             [](auto&... token) { return support::naive_linear_attention<double>(token...); });
  }
  static void expect_delta(memory_case<Io>& c) {
    auto inputs = c.naive();
    inputs.strength = c.strength;
    c.expect(wane::delta_net<Io>(c.delta_in(), c.shape.options), inputs, delta_token);
  }
  static void expect_gated_delta(memory_case<Io>& c) {
    auto inputs = c.naive();
    inputs.strength = c.strength, inputs.log_decay = c.head_decay;
    c.expect(
        wane::gated_delta_net<Io>(c.delta_in(), by_token<Io const>(c.head_decay), c.shape.options),
        inputs, delta_token);
  }
  static void expect_kimi(memory_case<Io>& c) {
    auto inputs = c.naive();
    inputs.strength = c.strength, inputs.log_decay = c.row_decay;
    c.expect(wane::kimi_delta_attention<Io>(c.delta_in(), c.row_decay, c.shape.options), inputs,
             delta_token);
  }
  // The decays of vla_delta_net are the strengths of the other memories, so they are at most 1.
  static void expect_vla_delta(memory_case<Io>& c) {
    auto inputs = c.naive();
    inputs.strength = c.strength;
    auto const in = c.delta_in();
    c.expect(wane::vla_delta_net<Io>(
                 {.query = in.query, .key = in.key, .value = in.value, .decay = in.strength},
                 c.shape.options),
             inputs, [](auto&... token) { return support::naive_vla_delta<double>(token...); });
  }
  static void expect_rwkv7(memory_case<Io>& c) {
    auto inputs = c.naive();
    inputs.scale = 1;
    inputs.log_decay = c.slow_decay, inputs.removal = c.removal, inputs.rate = c.rate;
    inputs.bonus = c.bonus_view();
    c.expect(wane::rwkv7<Io>(c.rwkv7_in(), c.slow_decay, c.shape.options), inputs,
             [](auto&... token) { return support::naive_rwkv7<double>(token...); });
  }

 private:
  static constexpr auto gla_token = [](auto&... token) {
    return support::naive_gla<double>(token...);
  };
  static constexpr auto delta_token = [](auto&... token) {
    return support::naive_delta<double>(token...);
  };
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(MemoryHardInputs, Types);

TYPED_TEST(MemoryHardInputs, LogDecaysAtTheEndsOfTheirRange) {
  for (double only : {0., -HUGE_VAL, -1e-9, -205., 1.}) {
    memory_case<TypeParam> c({2, 70, 2, 5, 9});
    random_values random;
    double const extremes[] = {0, -HUGE_VAL, -1e-9, -205};
    auto const pick = [&](auto...) { return only <= 0 ? only : extremes[random.bits() % 4]; };
    c.row_decay.fill(pick), c.head_decay.fill(pick);
    this->expect_gla_by_row(c), this->expect_gla_by_head(c);
    this->expect_gated_delta(c), this->expect_kimi(c);
    // RWKV-7 contracts even with decays of 1. Decays beyond its range are legal too.
    c.slow_decay.fill(pick);
    this->expect_rwkv7(c);
    this->expect_linear_attention(c);
  }
}

TYPED_TEST(MemoryHardInputs, Strengths0And1And2) {
  for (double only : {0., 1., 2., -1.})
    for (bool normalise : {false, true}) {
      memory_case<TypeParam> c({1, 70, 2, 5, 9, 0, {.normalise = normalise}});
      random_values random;
      c.strength.fill(
          [&](auto...) { return only < 0 ? static_cast<double>(random.bits() % 3) : only; });
      this->expect_delta(c), this->expect_gated_delta(c), this->expect_kimi(c);
    }
}

TYPED_TEST(MemoryHardInputs, PlainDecays0And1) {
  for (double only : {0., 1., 1 - 0x1p-20, -1.}) {
    memory_case<TypeParam> c({1, 70, 2, 5, 9, 0, {.normalise = true}});
    random_values random;
    c.strength.fill(
        [&](auto...) { return only < 0 ? static_cast<double>(random.bits() % 2) : only; });
    this->expect_vla_delta(c);
  }
}

TYPED_TEST(MemoryHardInputs, RowsOfNoLengthStayZeroWhenNormalised) {
  memory_case<TypeParam> c({1, 40, 2, 17, 5, 0, {.normalise = true}});
  for (auto* x : {&c.query, &c.key, &c.removal})
    x->for_each([&](auto b, auto t, auto h, auto i) {
      if (t % 3 == 0) (*x)(b, t, h, i) = 0;
    });
  this->expect_gla_by_row(c), this->expect_delta(c), this->expect_kimi(c), this->expect_rwkv7(c);
}

// A float state stays near the double one over 65536 tokens, with a memory of some hundred tokens.
TYPED_TEST(MemoryHardInputs, ALongSequenceOfAMemoryThatFades) {
  memory_case<TypeParam> c({1, 65536, 1, 8, 4, 0, {.normalise = true}});
  random_values random;
  auto const fades = [&](auto...) { return random.log_decay(1e-2, 1); };
  c.row_decay.fill(fades), c.head_decay.fill(fades);
  c.slow_decay.fill([&](auto...) { return random.log_decay(1e-2, 0.6); });
  this->expect_gla_by_row(c), this->expect_gla_by_head(c), this->expect_delta(c);
  this->expect_gated_delta(c), this->expect_kimi(c), this->expect_rwkv7(c);
  this->expect_linear_attention(c);
}

}  // namespace
