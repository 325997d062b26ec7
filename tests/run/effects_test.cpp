// effects: slow decays of many tokens, and products that leave the range of float.
// SPDX-License-Identifier: MIT
#include "wane/run/effects.hpp"

#include <gtest/gtest.h>

#include "wane/operators/linear_recurrence.hpp"

namespace {

// The effect of `count` tokens with the same decay and drive.
template <wane::decay_as Form>
auto effect_of(wane::index count, float decay, float drive) {
  std::vector<float> const a(static_cast<std::size_t>(count), decay), b(a.size(), drive);
  using op_type = wane::linear_recurrence<Form, float>;
  op_type const op({.decay = {a.data(), 1, count, 1, 1}, .drive = {b.data(), 1, count, 1, 1}});
  wane::segment_effect<op_type> found;
  wane::effects(op, {&found, 1, 1, 1, 1});
  return found;
}

// What a million products in float would lose: each factor is 2^-20 below 1.
TEST(EffectsOfManyTokens, ForgetWhatTheyForget) {
  constexpr wane::index count = 1'000'000;
  float const factor = 1 - 0x1p-20f;
  double const left = std::pow(static_cast<double>(factor), count);
  EXPECT_NEAR(effect_of<wane::decay_as::factor>(count, factor, 0).decay, left, 1e-7);
  float const log = -1e-6f;
  EXPECT_NEAR(effect_of<wane::decay_as::log>(count, log, 0).log_decay,
              static_cast<double>(log) * count, 1e-7);
}

TEST(EffectsOfManyTokens, KeepNaNWithoutAReset) {
  auto const underflows = effect_of<wane::decay_as::factor>(2000, .5f, 1);
  EXPECT_TRUE(std::isnan(apply(underflows, NAN)));
  EXPECT_EQ(apply(underflows, 100.f), 2);
  EXPECT_FLOAT_EQ(apply(effect_of<wane::decay_as::log>(2000, -1.f, 1), 100.f),
                  1 / (1 - std::exp(-1.f)));
  EXPECT_EQ(apply(effect_of<wane::decay_as::factor>(2000, 0, 1), NAN), 1);
  EXPECT_EQ(apply(effect_of<wane::decay_as::log>(2000, -HUGE_VALF, 1), NAN), 1);
}

}  // namespace
