// wkv_token: a token of RWKV-4 and the state that it finds, and the weights of both.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/decay.hpp"

namespace wane::impl {

// Some channels of a token. The state that it finds is A = a e^p and B = b e^p.
template <class V>
struct wkv_token {
  using T = typename scalar_of_value<V>::type;
  static constexpr T least_key = T(-1e30);  // keys below write nothing

  struct weights {
    split_decay<V> state;
    V token;
  };

  V key, value, log_decay, bonus, a, b, p;

  // All logarithms are finite but that of the decay. An empty state, b = 0, weighs less than any
  // key.
  WANE_INLINE wkv_token(V k, V v, V g, V u, V numerator, V denominator, V maximum)
      : key(at_least(V(2 * least_key), k)),
        value(v),
        log_decay(g),
        bonus(u),
        a(numerator),
        b(denominator),
        p(where_zero(b, V(4 * least_key), maximum)) {}

  // e^p and e^(u + k), over the greater of the two.
  WANE_INLINE weights when_read() const {
    V const apart = (p - key) - bonus, zero = V(T(0)), one = V(T(1));
    V const less = factor_of(decay_from_log(at_most(apart, -apart)));
    return {{where_below(apart, zero, less, one), zero}, where_below(apart, zero, one, less)};
  }
  // e^(p + g) and e^k, over e^next_p. What the rounding of next_p adds, the first takes away.
  WANE_INLINE weights when_written() const {
    V const one = V(T(1)), next = next_p(), of_state = (p - next) + log_decay;
    auto const less = decay_from_log(where_key_leads(of_state, key - next));
    V const token = where_key_leads(one, factor_of(less));
    return {
        {where_key_leads(less.whole, one), where_key_leads(less.rest, expm1_near_zero(of_state))},
        if_open(token)};
  }
  // The p of the state after this token, rounded.
  WANE_INLINE V next_p() const { return at_least(key, p + log_decay); }
  // x where the key is above p + g, otherwise y.
  WANE_INLINE V where_key_leads(V x, V y) const { return where_below(p + log_decay, key, x, y); }
  // x where the key writes, otherwise 0.
  WANE_INLINE V if_open(V x) const { return where_below(key, V(least_key), V(T(0)), x); }
};

// weight x, and 0 where the weight is 0.
template <class V>
WANE_INLINE V weighted(V weight, V x) {
  return where_zero(weight, V(typename scalar_of_value<V>::type(0)), weight * x);
}

}  // namespace wane::impl
