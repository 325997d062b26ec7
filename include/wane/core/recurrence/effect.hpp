// The effect of a piece of a sequence on a state, S -> decay o S + drive, and its algebra.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "wane/core/numbers/decay.hpp"

namespace wane {

//   state = apply(then(first, second), state);  // = apply(second, apply(first, state))
//
// The effect of a piece on one state element: S -> decay S + drive. `then` is associative, and
// `effect{}` is its identity. Threads, blocks, machines, prefix caches and snapshots can therefore
// each hold the effect of one piece. V is a number, real or complex, or a simd of numbers.
template <class V>
struct effect {
  V decay = V(1);
  V drive = V(0);
};

// The same with the log of the decay, because products of factors near 1 round more than sums of
// logs do. -inf resets.
template <class V>
struct log_effect {
  V log_decay = V(0);
  V drive = V(0);
};

// The effect of `first` and then `second`. A reset in `second` ignores `first`, NaN included.
template <class V>
WANE_INLINE effect<V> then(effect<V> const& first, effect<V> const& second) {
  return {where_zero(second.decay, V(0), multiply(second.decay, first.decay)),
          carried(plain_decay<V>{second.decay}, first.drive, second.drive)};
}
template <class V>
WANE_INLINE log_effect<V> then(log_effect<V> const& first, log_effect<V> const& second) {
  auto const w = decay_from_log(second.log_decay);
  return {where_zero(factor_of(w), second.log_decay, add(first.log_decay, second.log_decay)),
          carried(w, first.drive, second.drive)};
}

// The state after the piece.
template <class V>
WANE_INLINE V apply(effect<V> const& segment, V const& state) {
  return carried(plain_decay<V>{segment.decay}, state, segment.drive);
}
template <class V>
WANE_INLINE V apply(log_effect<V> const& segment, V const& state) {
  return carried(decay_from_log(segment.log_decay), state, segment.drive);
}

}  // namespace wane
