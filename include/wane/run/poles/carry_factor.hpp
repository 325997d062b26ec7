// carry_factor, complex_parts: complex numbers that multiply vectors of real and imaginary parts.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <complex>

#include "wane/core/numbers/scalar.hpp"

namespace wane::impl {

template <class T>
struct complex_parts {
  T re, im;

  complex_parts() = default;
  template <class Real>
  complex_parts(std::complex<Real> z)
      : re(static_cast<T>(z.real())), im(static_cast<T>(z.imag())) {}

  // (to_re, to_im) += times z (re, im)
  template <class V>
  WANE_HOST_INLINE void add_to(V& to_re, V& to_im, index times, V z_re, V z_im) const {
    V const a(static_cast<T>(times) * re), b(static_cast<T>(times) * im);
    to_re = multiply_add(a, z_re, multiply_add(-b, z_im, to_re));
    to_im = multiply_add(a, z_im, multiply_add(b, z_re, to_im));
  }
};

// p^N = whole + rest, where whole is 1 near 1 and otherwise 0. So float holds the difference of a
// slow decay from 1, not the decay.
template <class T>
struct carry_factor {
  T whole;
  complex_parts<T> rest;

  carry_factor() = default;
  explicit carry_factor(std::complex<double> power)
      : whole(std::abs(power - 1.) < 0.5 ? T(1) : T(0)), rest(power - double(whole)) {}

  // The relative error of whole + rest as rounded: exact / applied - 1.
  template <class Exact>
  Exact drift(Exact const& exact) const {
    using Real = real_type<Exact>;
    Exact const applied(static_cast<Real>(whole) + static_cast<Real>(rest.re),
                        static_cast<Real>(rest.im));
    return applied == Exact(0) ? Exact(0) : (exact - applied) / applied;
  }

  // (re, im) p^N + (add_re, add_im)
  template <class V>
  WANE_HOST_INLINE void operator()(V& re, V& im, V add_re, V add_im) const {
    V const all(whole), a(rest.re), b(rest.im);
    V const new_re = multiply_add(all, re, multiply_add(a, re, add_re - b * im));
    im = multiply_add(all, im, multiply_add(a, im, multiply_add(b, re, add_im)));
    re = new_re;
  }
};

}  // namespace wane::impl
