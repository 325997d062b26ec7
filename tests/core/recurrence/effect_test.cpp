// The algebra of effects: associative, with an identity; a reset blocks all earlier tokens.
// SPDX-License-Identifier: MIT
#include "wane/core/recurrence/effect.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "support/random_values.hpp"

namespace {

template <class V>
double size_of(V const& x) {
  return static_cast<double>(std::abs(x));
}

template <class V>
class Effects : public testing::Test {
 public:
  using real = wane::real_type<V>;
  static constexpr double epsilon = std::numeric_limits<real>::epsilon();
  static constexpr real infinite = std::numeric_limits<real>::infinity();
  static constexpr real undefined = std::numeric_limits<real>::quiet_NaN();

  V number(double low, double high) {
    auto const part = [&] { return static_cast<real>(random_.uniform(low, high)); };
    if constexpr (wane::is_complex<V>)
      return {part(), part()};
    else
      return part();
  }
  wane::effect<V> plain() { return {number(-1, 1), number(-1, 1)}; }
  wane::log_effect<V> logarithmic() { return {number(-2, 0), number(-1, 1)}; }

 private:
  support::random_values random_;
};
using Numbers = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Effects, Numbers);

// A product and a sum of three numbers below 1.5 in size: a dozen roundings at most.
constexpr double roundings = 12;

TYPED_TEST(Effects, Compose) {
  using V = TypeParam;
  for (int n = 0; n < 1000; ++n) {
    V const s = this->number(-1, 1);
    auto const a = this->plain(), b = this->plain();
    EXPECT_LT(size_of(wane::apply(then(a, b), s) - wane::apply(b, wane::apply(a, s))),
              roundings * this->epsilon);
    auto const c = this->logarithmic(), d = this->logarithmic();
    EXPECT_LT(size_of(wane::apply(then(c, d), s) - wane::apply(d, wane::apply(c, s))),
              roundings * this->epsilon);
  }
}

TYPED_TEST(Effects, AreAssociative) {
  for (int n = 0; n < 1000; ++n) {
    auto const a = this->plain(), b = this->plain(), c = this->plain();
    auto const x = then(then(a, b), c), y = then(a, then(b, c));
    EXPECT_LT(size_of(x.decay - y.decay), roundings * this->epsilon);
    EXPECT_LT(size_of(x.drive - y.drive), roundings * this->epsilon);
    auto const d = this->logarithmic(), e = this->logarithmic(), f = this->logarithmic();
    auto const u = then(then(d, e), f), v = then(d, then(e, f));
    EXPECT_LT(size_of(u.log_decay - v.log_decay), roundings * this->epsilon);
    EXPECT_LT(size_of(u.drive - v.drive), roundings * this->epsilon);
  }
}

TYPED_TEST(Effects, HaveAnIdentityThatChangesNoBit) {
  using V = TypeParam;
  wane::effect<V> const one{};
  wane::log_effect<V> const zero{};
  for (int n = 0; n < 100; ++n) {
    auto const a = this->plain();
    auto const b = this->logarithmic();
    for (auto const& x : {then(a, one), then(one, a)}) {
      EXPECT_EQ(x.decay, a.decay);
      EXPECT_EQ(x.drive, a.drive);
    }
    for (auto const& x : {then(b, zero), then(zero, b)}) {
      EXPECT_EQ(x.log_decay, b.log_decay);
      EXPECT_EQ(x.drive, b.drive);
    }
    EXPECT_EQ(wane::apply(one, a.drive), a.drive);
    EXPECT_EQ(wane::apply(zero, a.drive), a.drive);
  }
}

TYPED_TEST(Effects, KeepAResetWhereverItStands) {
  using V = TypeParam;
  wane::log_effect<V> const reset{V(-this->infinite), V(2)};
  wane::effect<V> const clear{V(0), V(2)};
  for (auto const& x :
       {then(this->logarithmic(), reset), then(reset, wane::log_effect<V>{}), then(reset, reset)}) {
    EXPECT_EQ(wane::apply(x, V(7)), V(2));
    EXPECT_EQ(wane::apply(x, V(this->undefined)), V(2));
  }
  for (auto const& x : {then(this->plain(), clear), then(clear, wane::effect<V>{})})
    EXPECT_EQ(wane::apply(x, V(this->undefined)), V(2));
}

TYPED_TEST(Effects, OfAResetForgetANaNBeforeIt) {
  using V = TypeParam;
  V const nan(this->undefined), inf(this->infinite);
  wane::log_effect<V> const reset{V(-this->infinite), V(2)};
  wane::effect<V> const clear{V(0), V(2)};
  for (V const& bad : {nan, inf}) {
    EXPECT_EQ(wane::apply(then(wane::log_effect<V>{V(-1), bad}, reset), V(3)), V(2));
    EXPECT_EQ(wane::apply(then(wane::effect<V>{V(1), bad}, clear), V(3)), V(2));
    EXPECT_EQ(wane::apply(then(wane::effect<V>{bad, V(1)}, clear), V(3)), V(2));
  }
  EXPECT_EQ(wane::apply(then(wane::log_effect<V>{nan, V(1)}, reset), V(3)), V(2));
}

TYPED_TEST(Effects, OfFactorsWhoseProductOverflowsForgetItAtAReset) {
  using V = TypeParam;
  wane::effect<V> const large{V(std::sqrt(std::numeric_limits<typename TestFixture::real>::max()))};
  wane::effect<V> const clear{V(0), V(2)};
  EXPECT_EQ(wane::apply(then(then(then(large, large), large), clear), V(3)), V(2));
}

TEST(LogEffect, SumsLogsThatAProductWouldRoundAway) {
  // A million tokens of log w = -1e-9: the float product of factors is 1, the sum is 1e-3.
  wane::log_effect<float> million{}, piece{-1e-9f, 0.f};
  for (int bit = 0, n = 1 << 20; bit <= 20; ++bit) {
    if (n & (1 << bit)) million = then(million, piece);
    piece = then(piece, piece);
  }
  EXPECT_NEAR(wane::apply(million, 1.f), std::exp(-0x1p20 * 1e-9), 1e-7);
}

TEST(Effects, OfVectorsAreThoseOfEachLane) {
  constexpr int W = wane::simd_width<float>;
  using V = wane::simd<float, W>;
  float logs[W], drives[W];
  for (int l = 0; l < W; ++l) {
    logs[l] = l % 4 == 3 ? -HUGE_VALF : -0.3f * static_cast<float>(l);
    drives[l] = static_cast<float>(l) - 2;
  }
  wane::log_effect<V> const all{V::load(logs), V::load(drives)};
  auto const twice = then(all, all);
  for (int l = 0; l < W; ++l) {
    wane::log_effect<float> const one{logs[l], drives[l]};
    EXPECT_EQ(twice.log_decay[l], then(one, one).log_decay);
    EXPECT_EQ(twice.drive[l], then(one, one).drive);
  }
}

}  // namespace
