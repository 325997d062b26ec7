// The effect of a piece of sequence on a state, S -> decay o S + drive, and its algebra.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "wane/core/numbers/decay.hpp"

namespace wane {

// What a segment does to a state element: S -> decay S + drive. Effects compose associatively,
// with `effect{}` as identity: threads, blocks, machines, prefix caches and snapshots may each
// hold the effect of their own piece. V is a number (real or complex) or a simd of them.
template <class V>
struct effect {
  V decay = V(1);
  V drive = V(0);
};

// The same with log decay: sums of logs keep what a product near 1 would round away. -inf resets.
template <class V>
struct log_effect {
  V log_decay = V(0);
  V drive = V(0);
};

// `first`, and after it `second`.
template <class V>
WANE_INLINE effect<V> then(effect<V> const& first, effect<V> const& second) {
  return {where_zero(second.decay, V(0), multiply(second.decay, first.decay)),
          carried(plain_decay<V>{second.decay}, first.drive, second.drive)};
}
template <class V>
WANE_INLINE log_effect<V> then(log_effect<V> const& first, log_effect<V> const& second) {
  auto const w = decay_from_log(second.log_decay);
  return {where_zero(factor_of(w), second.log_decay, first.log_decay + second.log_decay),
          carried(w, first.drive, second.drive)};
}

// The state after the segment.
template <class V>
WANE_INLINE V apply(effect<V> const& segment, V const& state) {
  return carried(plain_decay<V>{segment.decay}, state, segment.drive);
}
template <class V>
WANE_INLINE V apply(log_effect<V> const& segment, V const& state) {
  return carried(decay_from_log(segment.log_decay), state, segment.drive);
}

}  // namespace wane
