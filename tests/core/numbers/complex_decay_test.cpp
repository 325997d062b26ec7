// decay_from_log of complex numbers: damped turns, and the scalars they are made of.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <complex>
#include <limits>

#include "support/random_values.hpp"
#include "wane/core/numbers/decay.hpp"

namespace {

using exact = boost::multiprecision::cpp_bin_float_50;

template <class R>
class ComplexDecay : public testing::Test {
 public:
  static constexpr double epsilon = std::numeric_limits<R>::epsilon();

  // |w - exp(x)| / |exp(x)|
  static double error(std::complex<R> x) {
    auto const w = wane::decay_from_log(x);
    exact const size = exp(exact(x.real()));
    exact const re = exact(w.whole.real()) + exact(w.rest.real()) - size * cos(exact(x.imag()));
    exact const im = exact(w.whole.imag()) + exact(w.rest.imag()) - size * sin(exact(x.imag()));
    return static_cast<double>(sqrt(re * re + im * im) / size);
  }
};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(ComplexDecay, Reals);

TYPED_TEST(ComplexDecay, IsWithinTwoUlp) {
  // Sine, cosine and exponential of the C library err by less than one ulp each, and a product by
  // half: the two parts together by less than 1.5 sqrt(2) ulps.
  support::random_values random;
  for (int n = 0; n < 20000; ++n) {
    auto const re = static_cast<TypeParam>(random.log_decay(1e-9, 40));
    auto const im = static_cast<TypeParam>(random.uniform(-3.2, 3.2));
    ASSERT_LT(this->error({re, im}), 2.2 * this->epsilon) << re << ", " << im;
  }
}

TYPED_TEST(ComplexDecay, KeepsTheRestOfATinyLog) {
  support::random_values random;
  for (int n = 0; n < 5000; ++n) {
    auto const re = static_cast<TypeParam>(random.log_decay(1e-12, 1e-3));
    auto const im = static_cast<TypeParam>(random.log_decay(1e-12, 1e-3));
    auto const w = wane::decay_from_log(std::complex<TypeParam>(re, im));
    ASSERT_EQ(w.whole, TypeParam(1));
    exact const turned = expm1(exact(re)) - 2 * exp(exact(re)) * pow(sin(exact(im) / 2), 2);
    exact const size = abs(exact(re)) + pow(exact(im), 2);
    // Relative to the two effects that make up the real part: each has a few roundings.
    ASSERT_LT(static_cast<double>(abs(exact(w.rest.real()) - turned) / size), 3 * this->epsilon);
  }
}

TYPED_TEST(ComplexDecay, ResetsAtMinusInfinityWhateverTheAngle) {
  using complex = std::complex<TypeParam>;
  TypeParam const inf = std::numeric_limits<TypeParam>::infinity();
  TypeParam const nan = std::numeric_limits<TypeParam>::quiet_NaN();
  for (TypeParam angle : {TypeParam(0), TypeParam(2), TypeParam(-1e9)}) {
    auto const w = wane::decay_from_log(complex(-inf, angle));
    EXPECT_EQ(wane::carried(w, complex(nan, inf), complex(1, 2)), complex(1, 2));
  }
  EXPECT_TRUE(std::isnan(wane::factor_of(wane::decay_from_log(complex(nan, 0))).real()));
  EXPECT_TRUE(std::isnan(wane::factor_of(wane::decay_from_log(complex(-1, nan))).real()));
}

TYPED_TEST(ComplexDecay, MultipliesWithoutTestingForNaN) {
  using complex = std::complex<TypeParam>;
  complex const a(2, -3), b(5, 7), c(11, 13);
  EXPECT_EQ(wane::multiply(a, b), complex(31, -1));
  EXPECT_EQ(wane::multiply_add(a, b, c), complex(42, 12));
  EXPECT_EQ(wane::conjugate(a), complex(2, 3));
  EXPECT_EQ(wane::conjugate(TypeParam(2)), TypeParam(2));
}

}  // namespace
