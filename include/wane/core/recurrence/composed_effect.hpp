// composed_effect: what many tokens do to a state, exact enough for the slowest decays.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/terms.hpp"

namespace wane::impl {

// S -> decay S + drive. The decay of many tokens is held in double, real or complex, so that a
// segment in float forgets what its tokens forget one by one, and a product leaves the range of
// float where no state does. A decay of exactly 0 is a reset.
template <class V>
struct composed_effect {
  using wide = std::conditional_t<is_complex<V>, std::complex<double>, double>;
  wide decay{1};
  V drive{0};
};
// In double the product is decay + lost, the second what rounding took from it (Dekker 1971).
template <>
struct composed_effect<double> {
  using wide = double;
  double decay = 1, lost = 0, drive = 0;
};

template <class V>
WANE_INLINE bool is_infinite(V x) {
  if constexpr (is_complex<V>)
    return is_infinite(x.real()) || is_infinite(x.imag());
  else
    return x == V(HUGE_VAL) || x == V(-HUGE_VAL);
}

// The state after the segment. However small the decay, a NaN stays; only a reset forgets it. A
// state of 0 becomes what is written, however much decays have grown.
template <class V>
WANE_INLINE V state_after(composed_effect<V> const& e, V state) {
  using wide = typename composed_effect<V>::wide;
  if (e.decay == wide(0)) return e.drive;
  if (state == V(0) && is_infinite(e.decay)) return e.drive;
  if constexpr (std::is_same_v<V, double>)
    return multiply_add(e.decay, state, multiply_add(e.lost, state, e.drive));
  else
    return static_cast<V>(multiply_add(e.decay, wide(state), wide(e.drive)));
}

// The product of two decays, where neither is a reset: one that is too small for a double stays
// the least of them.
template <class Wide>
WANE_INLINE Wide product_of_decays(Wide a, Wide b) {
  Wide const product = multiply(a, b);
  return product == Wide(0) ? Wide(4.9406564584124654e-324) : product;
}

// `first`, and after it `second`, whose drive is given: that of both.
template <class V>
WANE_INLINE composed_effect<V> joined(composed_effect<V> const& first,
                                      composed_effect<V> const& second, V drive) {
  using E = composed_effect<V>;
  using wide = typename E::wide;
  E both;
  both.drive = drive;
  if (first.decay == wide(0) || second.decay == wide(0)) {
    both.decay = wide(0);
  } else if constexpr (std::is_same_v<V, double>) {
    // As a fused multiply-add, which no compiler can contract with what follows.
    double const product = std::fma(second.decay, first.decay, -0.0);
    double const rounded_away = std::fma(second.decay, first.decay, -product);
    double const small =
        std::fma(second.lost, first.decay, std::fma(second.decay, first.lost, rounded_away));
    both.decay = product + small;
    both.lost = small - (both.decay - product);
    if (!(both.lost == both.lost) || both.decay == 0)
      both.decay = product_of_decays(first.decay, second.decay), both.lost = 0;
  } else {
    both.decay = product_of_decays(first.decay, second.decay);
  }
  return both;
}

template <class V>
WANE_INLINE composed_effect<V> then(composed_effect<V> const& first,
                                    composed_effect<V> const& second) {
  return joined(first, second, state_after(second, first.drive));
}

// `first`, and after it a token of decay w and write b.
template <class V>
WANE_INLINE composed_effect<V> then_token(composed_effect<V> const& first, no_decay, V b) {
  composed_effect<V> both = first;
  both.drive = first.drive + b;
  return both;
}
template <class V>
WANE_INLINE composed_effect<V> then_token(composed_effect<V> const& first, plain_decay<V> w, V b) {
  composed_effect<V> token;
  token.decay = w.factor;
  return joined(first, token, carried(w, first.drive, b));
}
template <class V>
WANE_INLINE composed_effect<V> then_token(composed_effect<V> const& first, split_decay<V> w, V b) {
  using wide = typename composed_effect<V>::wide;
  composed_effect<V> token;
  token.decay = wide(w.whole) + wide(w.rest);
  if constexpr (std::is_same_v<V, double>) token.lost = w.rest - (token.decay - w.whole);
  return joined(first, token, carried(w, first.drive, b));
}

// A reset to b.
template <class V>
WANE_INLINE composed_effect<V> reset_to(V b) {
  composed_effect<V> reset;
  reset.decay = typename composed_effect<V>::wide(0);
  reset.drive = b;
  return reset;
}

}  // namespace wane::impl
