// Decays in the form that is applied to a state: a plain factor, or 2^n + rest of a log decay.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include "wane/core/numbers/simd.hpp"

namespace wane {

// The decay of a recurrence that never forgets: w = 1.
struct no_decay {};

// A decay held as the factor w. Any finite value is legal; exactly 0 is a reset.
template <class V>
struct plain_decay {
  V factor;
};

// w = whole + rest, where whole is a power of two (0 for a reset) and |rest| <= 0.42 whole.
// Multiplying the state by `whole` does not round. A float therefore forgets with log w = -1e-9,
// although w itself would round to 1.
template <class V>
struct split_decay {
  V whole, rest;
};

}  // namespace wane

namespace wane::impl {

template <class V>
struct scalar_of_value {
  using type = V;
};
template <class T, int W>
struct scalar_of_value<simd<T, W>> {
  using type = T;
};

// exp(x) - 1 by Taylor's series, for |x| <= ln(2)/2. The truncation error is below half an ulp.
template <class V>
WANE_INLINE V expm1_near_zero(V x) {
  using T = typename scalar_of_value<V>::type;
  constexpr int degree = sizeof(T) == 4 ? 7 : 13;
  constexpr double inverse_factorial[] = {1.,
                                          1.,
                                          1. / 2,
                                          1. / 6,
                                          1. / 24,
                                          1. / 120,
                                          1. / 720,
                                          1. / 5040,
                                          1. / 40320,
                                          1. / 362880,
                                          1. / 3628800,
                                          1. / 39916800,
                                          1. / 479001600,
                                          1. / 6227020800.};
  V series = V(static_cast<T>(inverse_factorial[degree]));
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int n = degree - 1; n >= 2; --n)
    series = multiply_add(series, x, V(static_cast<T>(inverse_factorial[n])));
  return multiply_add(multiply(x, x), series, x);
}

}  // namespace wane::impl

namespace wane {

// 1.5 * 2^(digits - 1). x + rounding_shift is x rounded to an integer, which its low bits hold.
template <class T>
inline constexpr T rounding_shift = sizeof(T) == 4 ? T(0x1.8p23) : T(0x1.8p52);

}  // namespace wane

namespace wane::impl {

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

// 2^n, from shifted = rounding_shift + n. n is at least the least normal exponent - 1, where the
// result is 0.
template <class T>
WANE_INLINE T power_of_two(T shifted) {
  constexpr auto zero = __builtin_bit_cast(bits_of<T>, rounding_shift<T>);
  constexpr bits_of<T> bias = std::numeric_limits<T>::max_exponent - 1;
  return __builtin_bit_cast(T, (__builtin_bit_cast(bits_of<T>, shifted) - zero + bias)
                                   << (std::numeric_limits<T>::digits - 1));
}
template <class T, int W>
WANE_HOST_INLINE simd<T, W> power_of_two(simd<T, W> shifted) {
  using bits = typename simd<bits_of<T>, W>::vector;
  constexpr auto zero = __builtin_bit_cast(bits_of<T>, rounding_shift<T>);
  constexpr bits_of<T> bias = std::numeric_limits<T>::max_exponent - 1;
  bits const exponent = (__builtin_bit_cast(bits, shifted.v) - zero + bias)
                        << (std::numeric_limits<T>::digits - 1);
  return __builtin_bit_cast(typename simd<T, W>::vector, exponent);
}

// decay_from_log takes x to be at least and at most this.
template <class T>
inline constexpr T lowest_log = sizeof(T) == 4 ? T(-87.9) : T(-709);
template <class T>
inline constexpr T highest_log = sizeof(T) == 4 ? T(88) : T(709);
// From this on a decay is not 0.
template <class T>
inline constexpr T lowest_log_without_reset = sizeof(T) == 4 ? T(-87) : T(-708);

// decay_from_log for lowest_log <= x <= highest_log, where it gives the same bits.
template <class V>
WANE_INLINE split_decay<V> decay_from_log_within(V x) {
  using T = typename scalar_of_value<V>::type;
  constexpr bool single = sizeof(T) == 4;
  constexpr T ln2_high = single ? T(0x1.62e3p-1) : T(0x1.62e42feep-1);
  constexpr T ln2_low = single ? T(9.0580006145e-06) : T(1.90821492927058770002e-10);
  V const shifted = multiply_add(x, V(T(1.44269504088896340736)), V(rounding_shift<T>));
  V const n = shifted - V(rounding_shift<T>);
  V const r = multiply_add(n, V(-ln2_low), multiply_add(n, V(-ln2_high), x));
  V const whole = power_of_two(shifted);
  return {whole, multiply(whole, expm1_near_zero(r))};
}

// carried where w is not 0.
template <class V>
WANE_INLINE V carried_without_reset(split_decay<V> w, V s, V b) {
  return multiply_add(w.whole, s, multiply_add(w.rest, s, b));
}

}  // namespace wane::impl

namespace wane {

// The decay whose natural logarithm is x, within about one ulp. It is exactly 0 for -inf and for
// results below the normal numbers, NaN for NaN, and at most e^88 (double: e^709). A number and a
// lane of a vector give the same bits.
template <class V>
WANE_INLINE split_decay<V> decay_from_log(V x) {
  using T = typename impl::scalar_of_value<V>::type;
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return impl::decay_from_log_within(
        at_most(V(impl::highest_log<T>), at_least(V(impl::lowest_log<T>), x)));
  } else {  // complex numbers and number types of other libraries
    using std::abs;
    using std::exp;
    if constexpr (is_complex<T>) {
      using R = real_type<T>;
      R const re = x.real(), im = x.imag();
      if (re > R(-0.35) && re < R(0.35) && im > R(-0.5) && im < R(0.5)) {
        R const grow = std::expm1(re), half = std::sin(im / 2);
        R const turn = -2 * half * half;
        return {T(1), {grow + turn + grow * turn, (1 + grow) * std::sin(im)}};
      }
      using wide = std::common_type_t<R, double>;
      wide const size = std::exp(wide(re)), angle = im;
      if (size == 0) return {T(0), T(0)};
      std::complex<wide> const w(size * std::cos(angle), size * std::sin(angle));
      T const whole = convert<T>(w);
      return {whole, convert<T>(subtract(w, convert<std::complex<wide>>(whole)))};
    } else {
      return {exp(x), V(0)};
    }
  }
}

// The factor w of a decay, rounded to one number.
template <class V>
WANE_INLINE V factor_of(plain_decay<V> w) {
  return w.factor;
}
template <class V>
WANE_INLINE V factor_of(split_decay<V> w) {
  return add(w.whole, w.rest);
}

// Factors from here to 1 are held as 1 + excess where rounding their products would lose too much.
template <class T>
inline constexpr T near_one = T(0.9375);

// w s + b. A reset gives b even if s is NaN. Without a fused multiply-add, w s is rounded by
// itself; for w just below 1 that error has the same sign at every token and adds up. Such w
// therefore give s + ((w - 1) s + b).
template <class V>
WANE_INLINE V carried(no_decay, V s, V b) {
  return add(s, b);
}
template <class V>
WANE_INLINE V carried(plain_decay<V> w, V s, V b) {
  using T = typename impl::scalar_of_value<V>::type;
  V result = V(0);
  if constexpr (!std::is_arithmetic_v<T>) {
    result = multiply_add(w.factor, s, b);
  } else if constexpr (has_fused_multiply_add) {
    result = fused_multiply_add(w.factor, s, b);
  } else {
    V const near = V(near_one<T>), excess = w.factor - V(T(1));
    V const rest = multiply_add(where_below(w.factor, near, w.factor, excess), s, b);
    result = where_below(w.factor, near, rest, s + rest);
  }
  return where_zero(w.factor, b, result);
}
template <class V>
WANE_INLINE V carried(split_decay<V> w, V s, V b) {
  return where_zero(factor_of(w), b, impl::carried_without_reset(w, s, b));
}

}  // namespace wane
