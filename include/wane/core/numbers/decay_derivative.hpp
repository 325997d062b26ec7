// Decays for an adjoint: copied to all lanes of a vector, conjugated, differentiated.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/decay.hpp"

namespace wane::impl {

using wane::conjugate;

// The same decay in every lane of V.
template <class V>
no_decay widen(no_decay) {
  return {};
}
template <class V, class D>
plain_decay<V> widen(plain_decay<D> w) {
  return {V(w.factor)};
}
template <class V, class D>
split_decay<V> widen(split_decay<D> w) {
  return {V(w.whole), V(w.rest)};
}
// Sets w = 1.
inline void never_fade(no_decay&) {}
template <class V>
void never_fade(plain_decay<V>& w) {
  w = {V(1)};
}
template <class V>
void never_fade(split_decay<V>& w) {
  w = {V(1), V(0)};
}

WANE_INLINE no_decay conjugate(no_decay w) { return w; }
template <class V>
WANE_INLINE plain_decay<V> conjugate(plain_decay<V> w) {
  return {conjugate(w.factor)};
}
template <class V>
WANE_INLINE split_decay<V> conjugate(split_decay<V> w) {
  return {conjugate(w.whole), conjugate(w.rest)};
}

// The derivative of w s by what the token states: d(w s)/d(log w) = w s, or d(w s)/dw = s.
template <class V>
WANE_INLINE V decay_derivative(no_decay, V) {
  return V(0);
}
template <class V>
WANE_INLINE V decay_derivative(plain_decay<V>, V s) {
  return s;
}
template <class V>
WANE_INLINE V decay_derivative(split_decay<V> w, V s) {
  return carried(w, s, V(real_type<typename scalar_of_value<V>::type>(0)));
}

// sum + rate g. Where g is 0 it is sum, because a rate of -infinity, a reset, would give NaN.
template <class V>
WANE_INLINE V by_rate(V rate, V g, V sum) {
  return where_zero(g, sum, multiply_add(rate, g, sum));
}

}  // namespace wane::impl
