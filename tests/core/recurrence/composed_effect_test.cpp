// composed_effect: the effect of many tokens, held against fifty digits.
// SPDX-License-Identifier: MIT
#include "wane/core/recurrence/composed_effect.hpp"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>

namespace wane::impl {
namespace {

using exact = boost::multiprecision::cpp_bin_float_50;

exact whole_decay(composed_effect<float> const& e) { return exact(e.decay); }
exact whole_decay(composed_effect<double> const& e) { return exact(e.decay) + exact(e.lost); }

template <class V, class Decay>
composed_effect<V> of_token(Decay w, V b) {
  return then_token(composed_effect<V>{}, w, b);
}

// Of 2^levels equal tokens, joined in pairs of pairs.
template <class V>
composed_effect<V> many(composed_effect<V> e, int levels) {
  for (int n = 0; n < levels; ++n) e = then(e, e);
  return e;
}

TEST(ComposedEffect, OfAMillionSlowTokensForgetsWhatTheyForget) {
  for (double log : {-1e-9, -1e-7, -1e-6, -3e-6}) {
    auto const by_log = many(of_token(decay_from_log(static_cast<float>(log)), 0.f), 20);
    exact const wanted = exp(exact(static_cast<float>(log)) * (1 << 20));
    EXPECT_LT(static_cast<double>(abs(whole_decay(by_log) / wanted - 1)), 1e-6) << log;
    float const factor = static_cast<float>(std::exp(log));
    auto const plain = many(of_token(plain_decay<float>{factor}, 0.f), 20);
    exact const power = pow(exact(factor), 1 << 20);
    EXPECT_LT(static_cast<double>(abs(whole_decay(plain) / power - 1)), 1e-7) << log;
  }
}

TEST(ComposedEffect, IsAssociativeAndHasAnIdentity) {
  composed_effect<double> const a{0.9, 1e-18, 2}, b{-0.5, 0, 3}, c{0.99, -1e-18, -1};
  auto const left = then(then(a, b), c), right = then(a, then(b, c));
  EXPECT_NEAR(static_cast<double>(whole_decay(left) - whole_decay(right)), 0, 1e-30);
  EXPECT_NEAR(left.drive, right.drive, 1e-15);
  for (auto const& same :
       {then(composed_effect<double>{}, a), then(a, composed_effect<double>{})}) {
    EXPECT_EQ(same.decay, a.decay);
    EXPECT_EQ(same.lost, a.lost);
    EXPECT_EQ(same.drive, a.drive);
  }
}

TEST(ComposedEffect, AResetForgetsWhateverWasThere) {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  auto const reset = of_token(plain_decay<float>{0}, 7.f);
  composed_effect<float> const ill{nan, nan};
  for (auto const& e : {reset, reset_to(7.f), then(ill, reset), then(reset, then(ill, reset))}) {
    EXPECT_EQ(e.decay, 0);
    EXPECT_EQ(e.drive, 7);
    EXPECT_EQ(state_after(e, nan), 7);
  }
  auto const later = then(reset, of_token(plain_decay<float>{2}, 1.f));
  EXPECT_EQ(later.decay, 0);
  EXPECT_EQ(later.drive, 15);
}

TEST(EffectOfEqualDecays, IsWhatItsTokensGiveOneByOne) {
  auto const expect_same = [](auto decay) {
    effect_of_equal_decays<float, decltype(decay)> all(decay);
    composed_effect<float> one_by_one;
    auto const expect_equal = [&] {
      EXPECT_EQ(all.effect().decay, one_by_one.decay);
      EXPECT_EQ(all.effect().drive, one_by_one.drive);
    };
    auto const take = [&](float b) {
      all.token(b), one_by_one = then_token(one_by_one, decay, b);
      expect_equal();
    };
    expect_equal();
    take(3.f), take(-1.f);
    all.reset(7.f), one_by_one = then(one_by_one, reset_to(7.f));
    expect_equal();
    take(2.f);
  };
  for (float factor : {0.f, 0.5f, 1.f, -2.f}) expect_same(plain_decay<float>{factor});
  for (float log : {-1e-6f, -1.f}) expect_same(decay_from_log(log));
}

TEST(ComposedEffect, OfGrowthBeyondAllNumbersStillCarriesZeroAndSigns) {
  auto const grown = many(of_token(plain_decay<float>{1e30f}, 0.f), 5);
  EXPECT_TRUE(is_infinite(grown.decay));
  EXPECT_EQ(state_after(grown, 0.f), 0);
  EXPECT_EQ(state_after(grown, 1.f), HUGE_VALF);
  EXPECT_EQ(state_after(grown, -1.f), -HUGE_VALF);
}

TEST(ComposedEffect, OfDecaysBeyondTheRangeOfFloatIsWithinThatOfDouble) {
  auto const down = many(of_token(plain_decay<float>{1e-30f}, 0.f), 3);
  auto const up = many(of_token(plain_decay<float>{1e30f}, 0.f), 3);
  EXPECT_NEAR(state_after(then(down, up), 3.f), 3, 1e-5);
}

TEST(ComposedEffect, ANaNIsForgottenByAResetAlone) {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  auto const fast = many(of_token(decay_from_log(-1.f), 1.f), 12);
  EXPECT_TRUE(std::isnan(state_after(fast, nan)));
  auto const in_double = many(of_token(decay_from_log(-1.), 1.), 12);
  EXPECT_TRUE(std::isnan(state_after(in_double, double(nan))));
  EXPECT_NEAR(state_after(fast, 5.f), 1 / (1 - std::exp(-1.)), 1e-6);
  auto const ill = of_token(plain_decay<float>{nan}, 1.f);
  EXPECT_TRUE(std::isnan(state_after(ill, 0.f)));
}

TEST(ComposedEffect, OfComplexTokensTurnsAndFades) {
  std::complex<float> const log(-1e-6f, 1e-3f);
  auto const e = many(of_token(decay_from_log(log), std::complex<float>(0)), 20);
  auto const wanted = std::exp(std::complex<double>(log) * double(1 << 20));
  EXPECT_LT(std::abs(e.decay - wanted), 1e-6);
}

}  // namespace
}  // namespace wane::impl
