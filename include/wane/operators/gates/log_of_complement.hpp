// log_of_complement, log(1 - u), and natural_log, to a few units in the last place, also of lanes.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/gates/softplus.hpp"

namespace wane::impl {

// x = 2^n m with 0.5 <= m < 1, for a normal x > 0.
template <class V>
struct binary_parts {
  V n, m;
};
template <class T>
inline constexpr int fraction_bits = std::numeric_limits<T>::digits - 1;
// n + rounding_shift in the bits of a number, from those of x; and m.
template <class Bits, class T>
WANE_INLINE binary_parts<Bits> binary_parts_of(Bits x, T) {
  using word = bits_of<T>;
  constexpr word half = __builtin_bit_cast(word, T(0.5)), bias = half >> fraction_bits<T>;
  constexpr word shift = __builtin_bit_cast(word, rounding_shift<T>);
  constexpr word fraction = (word(1) << fraction_bits<T>)-1;
  return {(x >> fraction_bits<T>)+(shift - bias), (x & fraction) | half};
}
template <class T>
WANE_INLINE binary_parts<T> split_number(T x) {
  auto const parts = binary_parts_of(__builtin_bit_cast(bits_of<T>, x), T(0));
  return {__builtin_bit_cast(T, parts.n) - rounding_shift<T>, __builtin_bit_cast(T, parts.m)};
}
template <class T, int W>
WANE_HOST_INLINE binary_parts<simd<T, W>> split_number(simd<T, W> x) {
  using bits = typename simd<bits_of<T>, W>::vector;
  using vector = typename simd<T, W>::vector;
  auto const parts = binary_parts_of(__builtin_bit_cast(bits, x.v), T(0));
  return {simd<T, W>(__builtin_bit_cast(vector, parts.n)) - simd<T, W>(rounding_shift<T>),
          simd<T, W>(__builtin_bit_cast(vector, parts.m))};
}

// For 0 <= u <= 1; -inf for 1. Up to 1/2 the series in u itself loses nothing; above, 1 - u is
// exact.
template <class V>
WANE_INLINE V log_of_complement(V u) {
  using T = typename scalar_of_value<V>::type;
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    V const half = V(T(0.5)), rest = V(T(1)) - u;
    auto const parts = split_number(rest);
    V const near = where_below(half, u, parts.m - V(T(1)), -u);
    V const n = where_below(half, u, parts.n, V(T(0)));
    V const log = multiply_add(n, V(T(0.693147180559945309)), log1p_of_unit(near));
    return where_zero(rest, V(-std::numeric_limits<T>::infinity()), log);
  } else {
    using std::log1p;
    return log1p(-u);
  }
}

// log x of a normal x > 0.
template <class V>
WANE_INLINE V natural_log(V x) {
  using T = typename scalar_of_value<V>::type;
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    auto const parts = split_number(x);
    return multiply_add(parts.n, V(T(0.693147180559945309)), log1p_of_unit(parts.m - V(T(1))));
  } else {
    using std::log;
    return log(x);
  }
}

}  // namespace wane::impl
