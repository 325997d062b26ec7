// softplus and the logistic function, of numbers and of lanes, to a few units in the last place.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/decay.hpp"

namespace wane::impl {

// T for one row, simd<T, W> for lanes of them.
template <class T, class Row>
struct number_of_rows {
  using type = T;
};
template <class T, class Row>
requires requires { Row::width; }
struct number_of_rows<T, Row> {
  using type = simd<T, Row::width>;
};
template <class T, class Row>
using number_at = typename number_of_rows<T, Row>::type;

// A sum high + low, where low is the rounding error of high. In an exponent, half a unit in the
// last place of high would become many units in the result.
template <class V>
struct split_sum {
  V high, low;
};
template <class V>
WANE_INLINE split_sum<V> plus(split_sum<V> a, V b) {
  using T = typename scalar_of_value<V>::type;
  V const sum = a.high + b, added = sum - a.high;
  V const lost = (a.high - (sum - added)) + (b - added);
  // `lost` is NaN beside an infinity; from 1 on the sum exceeds every exponent. Both count as 0.
  V const size = at_least(-lost, lost);
  return {sum, a.low + where_below(size, V(T(1)), lost, V(T(0)))};
}
template <class V>
WANE_INLINE split_sum<V> plus(split_sum<V> a, split_sum<V> b) {
  split_sum<V> const sum = plus(a, b.high);
  return {sum.high, sum.low + b.low};
}
// a b
template <class V>
WANE_INLINE split_sum<V> product(V a, split_sum<V> b) {
  using T = typename scalar_of_value<V>::type;
  V const high = multiply(a, b.high);
  if constexpr (is_simd<V>) {
    return {high, multiply_add(a, b.low, fused_multiply_add(a, b.high, -high))};
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    using std::fma;
    return {high, multiply_add(a, b.low, fma(a, b.high, -high))};
  } else {
    return {high, multiply(a, b.low)};
  }
}

// e^x, at most about e^88 (double: e^709).
template <class V>
WANE_INLINE V exponential(split_sum<V> x) {
  V const e = factor_of(decay_from_log(x.high));
  return multiply_add(e, x.low, e);
}

// log(1 + u) = 2 artanh(u / (2 + u)), 0 <= u <= 1, by Taylor's series in at most 1/3.
template <class V>
WANE_INLINE V log1p_of_unit(V u) {
  using T = typename scalar_of_value<V>::type;
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    constexpr int terms = sizeof(T) == 4 ? 8 : 16;
    V const part = u / (u + V(T(2))), twice = part + part, square = multiply(part, part);
    V series = V(static_cast<T>(1. / (2 * terms - 1)));
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int n = terms - 2; n >= 1; --n)
      series = multiply_add(series, square, V(static_cast<T>(1. / (2 * n + 1))));
    return multiply_add(multiply(twice, square), series, twice);
  } else {
    using std::log1p;
    return log1p(u);
  }
}

// log(1 + e^x), its slope 1/(1 + e^{-x}), and 1 - slope, without overflow or cancellation.
template <class V>
struct softplus_values {
  V softplus, logistic, complement;
};
template <class V>
WANE_INLINE softplus_values<V> softplus(split_sum<V> x) {
  using T = typename scalar_of_value<V>::type;
  V const zero = V(T(0)), size = at_least(-x.high, x.high);
  V const u = factor_of(decay_from_log(-size)), large = V(T(1)) / (V(T(1)) + u);
  V const small = multiply(u, large);
  V const above = where_below(x.high, zero, small, large);
  V const below = where_below(x.high, zero, large, small);
  V const whole = at_least(zero, x.high) + log1p_of_unit(u);
  V const change = multiply(multiply(above, below), x.low);
  return {multiply_add(above, x.low, whole), above + change, below - change};
}

}  // namespace wane::impl
