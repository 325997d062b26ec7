// Powers e^{(rate + i angle) n} of poles, one at a time or in the lanes of a vector.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <limits>

#include "wane/core/numbers/decay.hpp"
#include "wane/core/numbers/simd_lanes.hpp"

namespace wane::impl {

// A complex number in each lane.
template <int W>
struct complex_lanes {
  simd<double, W> re, im;

  WANE_HOST_INLINE friend complex_lanes operator*(complex_lanes const& a, complex_lanes const& b) {
    return {a.re * b.re - a.im * b.im, multiply_add(a.re, b.im, a.im * b.re)};
  }
};

// The sum of coefficient[n] x^n.
template <int W, int N>
WANE_HOST_INLINE simd<double, W> polynomial(simd<double, W> x, double const (&coefficient)[N]) {
  simd<double, W> sum(coefficient[N - 1]);
  for (int n = N - 2; n >= 0; --n) sum = multiply_add(sum, x, simd<double, W>(coefficient[n]));
  return sum;
}

// cos x + i sin x, by Taylor's series of what is left of x after multiples of pi/2; each part is
// within two ulp. Angles beyond 2^20 are too large for that, and go one by one.
template <int W>
complex_lanes<W> turn(simd<double, W> x) {
  using vector = simd<double, W>;
  using bits = typename simd<std::uint64_t, W>::vector;
  if (!all_below(at_least(x, -x), vector(0x1p20))) {
    complex_lanes<W> z;
    for (int l = 0; l < W; ++l) z.re.v[l] = std::cos(x[l]), z.im.v[l] = std::sin(x[l]);
    return z;
  }
  vector const shifted =
      multiply_add(x, vector(0x1.45f306dc9c883p-1), vector(rounding_shift<double>));
  vector const quarters = shifted - vector(rounding_shift<double>);
  vector const r =
      fused_multiply_add(quarters, vector(-0x1.1a62633145c07p-54),
                         fused_multiply_add(quarters, vector(-0x1.921fb54442d18p+0), x));
  vector const square = r * r;
  vector const sine =
      multiply_add(r * square,
                   polynomial(square, {-1. / 6, 1. / 120, -1. / 5040, 1. / 362880, -1. / 39916800,
                                       1. / 6227020800, -1. / 1307674368000}),
                   r);
  vector const cosine = multiply_add(
      square,
      multiply_add(square,
                   polynomial(square, {1. / 24, -1. / 720, 1. / 40320, -1. / 3628800,
                                       1. / 479001600, -1. / 87178291200, 1. / 20922789888000}),
                   vector(-0.5)),
      vector(1.));
  // The low bits count quarters of a turn: each swaps the two and changes one sign.
  bits const quarter = __builtin_bit_cast(bits, shifted.v);
  auto const with_sign = [](vector y, bits turns) WANE_INLINE_LAMBDA {
    bits const sign = turns >> 1 << 63;
    return vector(
        __builtin_bit_cast(typename vector::vector, __builtin_bit_cast(bits, y.v) ^ sign));
  };
  auto const odd = (quarter & 1) != 0;
  return {with_sign(odd ? sine.v : cosine.v, quarter + 1),
          with_sign(odd ? cosine.v : sine.v, quarter)};
}

// e^{(rate + i angle) n}. Each product with n is held as two numbers, so that the result is as
// accurate for n = 1e6 as for n = 1.
template <class Real>
std::complex<Real> power_of(Real rate, Real angle, Real n) {
  Real const size = rate * n, turn = angle * n;
  if (size < std::numeric_limits<Real>::min_exponent) return {0, 0};
  Real const size_rest = std::fma(rate, n, -size), turn_rest = std::fma(angle, n, -turn);
  Real const scale = std::exp(size) * (1 + size_rest), c = std::cos(turn), s = std::sin(turn);
  return {scale * (c - turn_rest * s), scale * (s + turn_rest * c)};
}
template <int W>
complex_lanes<W> power_of(simd<double, W> rate, simd<double, W> angle, simd<double, W> n) {
  using vector = simd<double, W>;
  vector const size = rate * n, whole = angle * n, one(1.);
  vector const size_rest = fused_multiply_add(rate, n, -size),
               rest = fused_multiply_add(angle, n, -whole);
  vector const scale = factor_of(decay_from_log(size)) * (one + size_rest);
  auto const [c, s] = turn(whole);
  return {scale * (c - rest * s), scale * multiply_add(rest, c, s)};
}

}  // namespace wane::impl
