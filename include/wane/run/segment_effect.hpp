// The effect of a piece of a walk on each channel, without writing anything.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/series.hpp"

namespace wane {

// The effect of many tokens with plain factors: their product is decay + lost, so that nothing is
// rounded away that matters.
template <class V>
struct product_effect {
  V decay = V(1), lost = V(0), drive = V(0);
};
template <class V>
WANE_HOST_INLINE V apply(product_effect<V> const& e, V state) {
  return carried(split_decay<V>{e.decay, e.lost}, state, e.drive);
}

// The same with logs: their sum is log_decay + lost.
template <class V>
struct sum_effect {
  V log_decay = V(0), lost = V(0), drive = V(0);
};
template <class V>
WANE_HOST_INLINE V apply(sum_effect<V> const& e, V state) {
  return carried(decay_from_log(e.log_decay + e.lost), state, e.drive);
}

template <class Op, class V>
using effect_of =
    std::conditional_t<has_element_log_decay<token_of<Op>>, sum_effect<V>, product_effect<V>>;

// `e` with an earlier piece of effect (whole + rest) s + drive in front of it. Going back in time,
// what lies behind a decay of zero is never looked at.
template <class V>
WANE_HOST_INLINE void prepend(product_effect<V>& e, V whole, V rest, V drive) {
  e.drive = where_zero(e.decay, e.drive, multiply_add(e.decay, drive, e.drive));
  V const product = multiply(e.decay, whole);
  V const rounded_away = fused_multiply_add(e.decay, whole, -product);
  V const lost = multiply_add(e.lost, whole + rest, multiply_add(e.decay, rest, rounded_away));
  V const sum = product + lost;
  e.lost = lost - (sum - product);
  e.decay = sum;
}
template <class V>
WANE_HOST_INLINE void prepend(sum_effect<V>& e, V log_decay, V drive) {
  V const factor = factor_of(decay_from_log(e.log_decay));
  e.drive = where_zero(factor, e.drive, multiply_add(factor, drive, e.drive));
  V const finite = at_least(V(-1e4), log_decay), sum = e.log_decay + finite;
  e.lost = e.lost + (finite - (sum - e.log_decay));  // Dekker 1971: |e.log_decay| is the larger
  e.log_decay = sum;
}

template <class V, class Token, class Columns>
WANE_HOST_INLINE void prepend_token(product_effect<V>& e, Token const& x, Columns columns) {
  prepend(e, x.decay(0, columns), V(0), x.value(columns));
}
template <class V, class Token, class Columns>
WANE_HOST_INLINE void prepend_token(sum_effect<V>& e, Token const& x, Columns columns) {
  prepend(e, x.log_decay(0, columns), x.value(columns));
}

template <class T, int W>
WANE_HOST_INLINE bool all_zero(simd<T, W> x) {
  bool zero = true;
  for (int l = 0; l < W; ++l) zero &= x[l] == T(0);
  return zero;
}
template <class V>
WANE_HOST_INLINE bool forgets_all(product_effect<V> const& e) {
  return all_zero(e.decay);
}
template <class V>
WANE_HOST_INLINE bool forgets_all(sum_effect<V> const& e) {
  return all_zero(factor_of(decay_from_log(e.log_decay)));
}

// R groups of columns of a walk. Stops as soon as no earlier token matters.
template <int R, channelwise Op, class Columns, class V>
WANE_HOST_INLINE void effect_of_columns(Op const& op, walk const w, Columns const (&columns)[R],
                                        effect_of<Op, V> (&effects)[R]) {
  constexpr index tokens_between_tests = 32;
  for (index k = w.count - 1; k >= 0; --k) {
    auto const x = op.at(w.token(k));
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA { prepend_token(effects[r], x, columns[r]); });
    if (k % tokens_between_tests != 0) continue;
    bool done = true;
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA { done = done && forgets_all(effects[r]); });
    if (done) return;
  }
}

// The effect on the channel of one lane.
template <class T, int W>
product_effect<T> lane(product_effect<simd<T, W>> const& e, int l) {
  return {e.decay[l], e.lost[l], e.drive[l]};
}
template <class T, int W>
sum_effect<T> lane(sum_effect<simd<T, W>> const& e, int l) {
  return {e.log_decay[l], e.lost[l], e.drive[l]};
}

// Effects of all columns of a walk, to effects[j].
template <channelwise Op, class T>
[[gnu::noinline]] void column_effects(Op const& shared, walk const w, effect_of<Op, T>* effects) {
  constexpr int width = simd_width<T>;
  using vector = simd<T, width>;
  Op const op = shared;
  index const columns = recurrence_shape(op.shape()).columns;
  auto const spread = [&](effect_of<Op, vector> const& e, index j, int count) {
    for (int l = 0; l < count; ++l) effects[j + l] = lane(e, l);
  };
  constexpr int at_once = 8;
  index j = 0;
  for (; j + at_once * width <= columns; j += at_once * width) {
    lanes<width> group[at_once];
    effect_of<Op, vector> found[at_once];
    for (int r = 0; r < at_once; ++r) group[r].first = j + r * width;
    effect_of_columns<at_once, Op, lanes<width>, vector>(op, w, group, found);
    for (int r = 0; r < at_once; ++r) spread(found[r], j + r * width, width);
  }
  for (; j < columns; j += width) {
    int const count = static_cast<int>(std::min<index>(width, columns - j));
    partial_lanes<width> const group[] = {{j, count}};
    effect_of<Op, vector> found[1];
    effect_of_columns<1, Op, partial_lanes<width>, vector>(op, w, group, found);
    spread(found[0], j, count);
  }
}

// Effects of C channels whose tokens share vectors, by scans of whole vectors from the end; a walk
// of whole vectors of tokens.
template <int C, channelwise Op, class T>
[[gnu::noinline]] void series_effect(Op const& shared, walk const w, index column,
                                     effect_of<Op, T>* effects) {
  constexpr int width = simd_width<T>, tokens = width / C;
  using vector = simd<T, width>;
  Op const op = shared;
  time_columns<C> const columns{column};
  effect_of<Op, vector> total;
  for (index k = w.count - tokens; k >= 0; k -= tokens) {
    place<time_lanes<width, C>> const at{
        w.batch, {w.first + w.stride * k, w.stride}, w.head, w.position + k};
    if constexpr (has_element_log_decay<token_of<Op>>) {
      vector const log = op.at(at).log_decay(0, columns);
      vector factor = factor_of(decay_from_log(log)), drive = op.at(at).value(columns);
      scan_vector<C>(factor, drive);
      prepend(total, repeat_last<C>(sum_vector<C>(log)), repeat_last<C>(drive));
    } else {
      auto const piece = scan<C, false, vector>(op.at(at), columns);
      prepend(total, repeat_last<C>(piece.whole), repeat_last<C>(piece.rest),
              repeat_last<C>(piece.drive));
    }
    if (k % (64 * tokens) == 0 && forgets_all(total)) break;
  }
  for (int c = 0; c < C; ++c) effects[c] = lane(total, c);
}

}  // namespace wane
