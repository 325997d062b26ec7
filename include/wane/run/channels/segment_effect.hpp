// The effect of a piece of a walk on the state of each channel, found without writing outputs.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/run/channels/series.hpp"

namespace wane::impl {

// The effect of many tokens with plain factors: S -> (decay + lost) S + drive. `lost` holds what
// rounding removes from the product `decay`, so that slow decays are not lost.
template <class V>
struct product_effect {
  V decay = V(1), lost = V(0), drive = V(0);
};
template <class V>
WANE_HOST_INLINE V apply(product_effect<V> const& e, V state) {
  return carried(split_decay<V>{e.decay, e.lost}, state, e.drive);
}

// The effect of many tokens with log decays. The sum of the logs is log_decay + lost.
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

// Puts an earlier piece with the effect S -> (whole + rest) S + drive in front of `e`. e.drive
// becomes not finite if a product overflows, or if a NaN comes before a reset.
template <class V>
WANE_HOST_INLINE void prepend(product_effect<V>& e, V whole, V rest, V drive) {
  e.drive = multiply_add(e.decay, drive, multiply_add(e.lost, drive, e.drive));
  V const product = multiply(e.decay, whole);
  V const rounded_away = fused_multiply_add(e.decay, whole, -product);
  e.lost = multiply_add(e.lost, whole + rest, multiply_add(e.decay, rest, rounded_away));
  e.decay = product;
}
template <class V>
WANE_HOST_INLINE void prepend(sum_effect<V>& e, V log_decay, V drive) {
  e.drive = multiply_add(factor_of(decay_from_log(e.log_decay)), drive, e.drive);
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

// Puts the effect of an earlier piece in front of `e`.
template <class V>
WANE_HOST_INLINE void prepend(product_effect<V>& e, product_effect<V> const& earlier) {
  prepend(e, earlier.decay, earlier.lost, earlier.drive);
}
template <class V>
WANE_HOST_INLINE void prepend(sum_effect<V>& e, sum_effect<V> const& earlier) {
  prepend(e, earlier.log_decay, earlier.drive);
  e.lost = e.lost + earlier.lost;
}

// Whether less than 2^-100 of the state before the piece is left in each lane. This counts as
// nothing.
template <class V>
WANE_HOST_INLINE bool forgets_all(product_effect<V> const& e) {
  V const factor = e.decay + e.lost;
  return all_below(at_least(-factor, factor), V(0x1p-100));
}
template <class V>
WANE_HOST_INLINE bool forgets_all(sum_effect<V> const& e) {
  return all_below(e.log_decay, V(-70));
}

// The effects of a walk on all columns, one for each vector of columns. Tokens are read from the
// last to the first, until no earlier one matters. The tokens of a block are joined before they are
// joined to the total, because each addition to the total rounds at the size of the total.
template <channelwise Op, class V>
[[gnu::noinline]] void column_effects(Op const& shared, walk const w, effect_of<Op, V>* effects) {
  constexpr index width = V::width, block_rows = 32;
  Op const op = shared;
  index const columns = recurrence_shape(op.shape()).columns, whole = columns / width;
  int const rest = static_cast<int>(columns % width);
  index const strips = whole + (rest > 0);
  std::fill_n(effects, strips, effect_of<Op, V>{});
  if constexpr (has_element_log_decay<token_of<Op>>)  // lanes without a column count as forgotten
    for (int l = rest; rest > 0 && l < width; ++l) effects[whole].log_decay.v[l] = -1e4f;
  std::vector<effect_of<Op, V>> block(static_cast<std::size_t>(strips));
  for (index end = w.count; end > 0; end -= block_rows) {
    std::fill(block.begin(), block.end(), effect_of<Op, V>{});
    for (index k = end - 1; k >= std::max(end - block_rows, index{0}); --k) {
      auto const x = op.at(w.token(k));
      if (rest) prepend_token(block.back(), x, partial_lanes<width>{whole * width, rest});
      for (index s = whole - 1; s >= 0; --s)
        prepend_token(block[static_cast<std::size_t>(s)], x, lanes<width>{s * width});
    }
    bool done = true;
    for (index s = 0; s < strips; ++s) {
      prepend(effects[s], block[static_cast<std::size_t>(s)]);
      done = done && forgets_all(effects[s]);
    }
    if (done) return;
  }
}

// Joins N vectors of tokens into one vector of windows, each of N tokens: pairs of neighbours are
// joined until one vector is left. read(n) gives vector n. `smallest` is lowered to the least
// factor read in each lane.
template <int C, held Form, int N, class V, class Read>
WANE_HOST_INLINE token_window<V> join_tokens(Read const& read, V taken, int n, V& smallest) {
  if constexpr (N == 1) {
    token_window<V> x = read(n);
    smallest = at_most(smallest, x.factor);
    if constexpr (Form != held::whole) x.factor = x.factor - taken;
    return x;
  } else {
    auto const b = join_tokens<C, Form, N / 2>(read, taken, n + N / 2, smallest);
    auto const a = join_tokens<C, Form, N / 2>(read, taken, n, smallest);
    token_window<V> const first{every_other<C, 0>(a.factor, b.factor),
                                every_other<C, 0>(a.drive, b.drive)};
    token_window<V> const second{every_other<C, 1>(a.factor, b.factor),
                                 every_other<C, 1>(a.drive, b.drive)};
    return after<Form>(first, second, taken);
  }
}

// The effect of a walk on C channels whose tokens share vectors: lane l holds the effect on channel
// l mod C. The walk must have a multiple of 16 vectors of tokens.
template <int C, channelwise Op, class V>
[[gnu::noinline]] void series_effect(Op const& shared, walk const w, effect_of<Op, V>* effects) {
  constexpr int width = V::width, tokens = width / C, at_once = 16;
  Op const op = shared;
  time_columns<C> const columns{0};
  auto const token = [&](index k) WANE_INLINE_LAMBDA {
    return op.at(place<time_lanes<width, C>>{
        w.batch, {w.first + w.stride * k, w.stride}, w.head, w.position + k, w.sequence});
  };
  effect_of<Op, V> total;
  [[maybe_unused]] held_form<V> form;
  for (index k = w.count - at_once * tokens; k >= 0; k -= at_once * tokens) {
    if constexpr (has_element_log_decay<token_of<Op>>) {
      for (int n = at_once - 1; n >= 0; --n) {
        auto const x = token(k + n * tokens);
        V const log = x.log_decay(0, columns);
        token_window<V> window{factor_of(decay_from_log(log)), x.value(columns)};
        scan_vector<C, held::whole>(window);
        prepend(total, repeat_last<C>(sum_vector<C>(log)), repeat_last<C>(window.drive));
      }
    } else {
      auto const read = [&](int n) WANE_INLINE_LAMBDA {
        auto const x = token(k + n * tokens);
        return token_window<V>{x.decay(0, columns), x.value(columns)};
      };
      // Joins 16 vectors in the form `Form`. If another form is right, it sets `form` to that and
      // returns false.
      auto const joins = [&]<held Form>(std::integral_constant<held, Form>) WANE_INLINE_LAMBDA {
        V smallest = V(1);
        auto x = join_tokens<C, Form, at_once>(read, form.taken, 0, smallest);
        held_form<V> const right = form_of<C>(smallest);
        bool const was_right = is_same_form(form, right);
        form = right;
        if (!was_right) return false;
        scan_vector<C, Form>(x, form.taken);
        V const factor = x.factor + form.taken, rounded_away = x.factor - (factor - form.taken);
        prepend(total, repeat_last<C>(factor), repeat_last<C>(rounded_away),
                repeat_last<C>(x.drive));
        return true;
      };
      // Neighbouring blocks mostly have the same form, so the last one is tried first.
      for (bool joined = false; !joined;)
        if (form.kind == held::whole)
          joined = joins(std::integral_constant<held, held::whole>{});
        else if (form.kind == held::less_one)
          joined = joins(std::integral_constant<held, held::less_one>{});
        else
          joined = joins(std::integral_constant<held, held::by_channel>{});
    }
    if (forgets_all(total)) break;
  }
  effects[0] = total;
}

}  // namespace wane::impl
