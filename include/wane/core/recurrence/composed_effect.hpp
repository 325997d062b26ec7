// composed_effect: the effect of many tokens on a state, accurate for the slowest decays.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/terms.hpp"

namespace wane::impl {

// S -> decay S + drive. The product of decays is held in double, real or complex, for two reasons:
// a product of floats near 1 would lose what each of them forgets, and it can leave the range of
// float although every state stays within it. A decay of exactly 0 is a reset.
template <class V>
struct composed_effect {
  using wide = std::conditional_t<is_complex<V>, std::complex<double>, double>;
  wide decay{1};
  V drive{0};
};
// In double the product is decay + lost, where lost is the rounding error (Dekker 1971).
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

// The state after the tokens. Only a reset forgets a NaN; a decay that is merely small keeps it. A
// state of 0 gives the drive, even where the decay is infinite.
template <class V>
WANE_INLINE V state_after(composed_effect<V> const& e, V state) {
  using wide = typename composed_effect<V>::wide;
  if (e.decay == wide(0)) return e.drive;
  if (state == V(0) && is_infinite(e.decay)) return e.drive;
  if constexpr (std::is_same_v<V, double>)
    return multiply_add(e.decay, state, multiply_add(e.lost, state, e.drive));
  else
    return convert<V>(multiply_add(e.decay, convert<wide>(state), convert<wide>(e.drive)));
}

// A product of decays none of which is a reset. Where it underflowed it is the least positive
// double, because 0 would be a reset.
template <class Wide>
WANE_INLINE Wide not_a_reset(Wide product) {
  return product == Wide(0) ? Wide(4.9406564584124654e-324) : product;
}

// The effect of `first` and then `second`. `drive` is the drive of the result.
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
    // A fused multiply-add, so that no compiler contracts the product with the next operation.
    double const product = std::fma(second.decay, first.decay, -0.0);
    double const rounded_away = std::fma(second.decay, first.decay, -product);
    double const small =
        std::fma(second.lost, first.decay, std::fma(second.decay, first.lost, rounded_away));
    both.decay = product + small;
    both.lost = small - (both.decay - product);
    if (!(both.lost == both.lost) || both.decay == 0)
      both.decay = not_a_reset(multiply(first.decay, second.decay)), both.lost = 0;
  } else {
    both.decay = not_a_reset(multiply(first.decay, second.decay));
  }
  return both;
}

template <class V>
WANE_INLINE composed_effect<V> then(composed_effect<V> const& first,
                                    composed_effect<V> const& second) {
  return joined(first, second, state_after(second, first.drive));
}

// The effect of `first` and then a token with decay w and write b.
template <class V>
WANE_INLINE composed_effect<V> then_token(composed_effect<V> const& first, no_decay, V b) {
  composed_effect<V> both = first;
  both.drive = add(first.drive, b);
  return both;
}
template <class V>
WANE_INLINE composed_effect<V> then_token(composed_effect<V> const& first, plain_decay<V> w, V b) {
  using wide = typename composed_effect<V>::wide;
  composed_effect<V> token;
  token.decay = convert<wide>(w.factor);
  return joined(first, token, carried(w, first.drive, b));
}
template <class V>
WANE_INLINE composed_effect<V> then_token(composed_effect<V> const& first, split_decay<V> w, V b) {
  using wide = typename composed_effect<V>::wide;
  composed_effect<V> token;
  token.decay = add(convert<wide>(w.whole), convert<wide>(w.rest));
  if constexpr (std::is_same_v<V, double>) token.lost = w.rest - (token.decay - w.whole);
  return joined(first, token, carried(w, first.drive, b));
}

// The effect that replaces any state by b.
template <class V>
WANE_INLINE composed_effect<V> reset_to(V b) {
  composed_effect<V> reset;
  reset.decay = typename composed_effect<V>::wide(0);
  reset.drive = b;
  return reset;
}

// The effect of tokens that all have decay w, from the earliest on: what then_token gives, with the
// tests for resets and underflow once at the end. (V is not double, whose products need `lost`.)
template <class V, class Decay>
class effect_of_equal_decays {
  using wide = typename composed_effect<V>::wide;

 public:
  WANE_INLINE explicit effect_of_equal_decays(Decay w)
      : w_(w), factor_(then_token(composed_effect<V>{}, w, V(0)).decay) {}

  WANE_INLINE void token(V b) {
    all_.drive = carried(w_, all_.drive, b);
    all_.decay = multiply(all_.decay, factor_);
  }
  WANE_INLINE void reset(V b) { all_ = reset_to(b), resets_ = true; }

  WANE_INLINE composed_effect<V> effect() const {
    if (resets_ || factor_ == wide(0)) return all_;
    return {not_a_reset(all_.decay), all_.drive};
  }

 private:
  Decay w_;
  wide factor_;
  composed_effect<V> all_{};
  bool resets_ = false;
};

}  // namespace wane::impl
