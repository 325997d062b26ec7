// Channelwise recurrences with few channels: one vector holds several tokens of theirs.
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>

#include "wane/run/columns.hpp"
#include "wane/run/vector_scan.hpp"

namespace wane {

// K vectors one after another, from windows of one token to windows of W / C; before[n] is the last
// vector before them at level n. Level by level, so that the vectors advance abreast. (Kogge and
// Stone 1973)
template <int C, held Form, int K, class V, int Levels>
WANE_HOST_INLINE void widen_windows(token_window<V> (&x)[K], token_window<V> (&before)[Levels],
                                    V taken) {
  unroll<Levels>([&](auto level) WANE_INLINE_LAMBDA {
    constexpr int shift = C << level;
    token_window<V> earlier[K];
    unroll<K>([&](auto k) WANE_INLINE_LAMBDA {
      token_window<V> const& previous = k == 0 ? before[level] : x[k == 0 ? 0 : k - 1];
      earlier[k] = {shift_up<shift>(x[k].factor, previous.factor),
                    shift_up<shift>(x[k].drive, previous.drive)};
    });
    before[level] = x[K - 1];
    unroll<K>([&](auto k) WANE_INLINE_LAMBDA { x[k] = after<Form>(earlier[k], x[k], taken); });
  });
}

// Channels [column, column + C) of a walk.
template <int C, channelwise Op, class T, class Out>
class series_runner {
 public:
  static constexpr int width = simd_width<T>;
  static constexpr int tokens = width / C;
  static constexpr int levels = std::bit_width(static_cast<unsigned>(tokens)) - 1;
  static constexpr bool in_logs = has_element_log_decay<token_of<Op>>;
  using vector = simd<T, width>;
  using windows = token_window<vector>[levels];

  series_runner(Op const& op, sequence_view<Out> const& output, index column)
      : op_(op), output_(output), columns_{column} {}

  // `carry` is the state of the C channels, before and after.
  void operator()(walk const& w, bool streaming, T (&carry)[C]) const {
    bool const streams = streaming && can_align(w);
    index const head = streams ? head_tokens(w) : 0;
    one_by_one(w.part(0, head), carry);
    walk const body = w.part(head, (w.count - head) / tokens * tokens);
    if (body.stride < 0)
      vectors<-1, false>(body, carry);
    else if (streams)
      vectors<1, true>(body, carry);
    else
      vectors<1, false>(body, carry);
    one_by_one(w.part(head + body.count, tokens), carry);
  }

 private:
  static constexpr std::uintptr_t token_bytes = C * sizeof(T);

  // Bytes before the first output that lies at a multiple of whole vectors.
  std::uintptr_t misaligned_bytes(walk const& w) const {
    auto const address =
        reinterpret_cast<std::uintptr_t>(output_.element(w.token(0), columns_.first));
    return (simd_bytes - address % simd_bytes) % simd_bytes;
  }
  bool can_align(walk const& w) const {
    return std::is_same_v<T, Out> && w.stride > 0 && misaligned_bytes(w) % token_bytes == 0;
  }
  index head_tokens(walk const& w) const {
    return std::min(w.count, static_cast<index>(misaligned_bytes(w) / token_bytes));
  }

  void one_by_one(walk const& w, T (&carry)[C]) const {
    walk_columns_one_by_one(op_, w, columns_.first, columns_.first + C, carry, output_);
  }

  // Whole vectors of tokens. `state` holds the states a whole vector of tokens ago.
  template <int Direction, bool Stream>
  [[gnu::noinline]] void vectors(walk const w, T (&carry)[C]) const {
    Op const op = op_;
    sequence_view<Out> const output = output_;
    time_columns<C> const columns = columns_;
    vector state = entered_with(carry);
    [[maybe_unused]] windows before;
    [[maybe_unused]] held_form<vector> form;
    forget(before, form);
    index k = 0;
    auto const place_of = [&](index n) WANE_INLINE_LAMBDA {
      return place<time_lanes<width, C>>{
          w.batch, {w.first + Direction * n, Direction}, w.head, w.position + n};
    };
    auto const block = [&]<int K>(std::integral_constant<int, K>) WANE_INLINE_LAMBDA {
      token_window<vector> x[K];  // with logs in place of factors if the tokens state these
      vector states[K], smallest = vector(T(1)), largest = vector(T(-1));
      unroll<K>([&](auto n) WANE_INLINE_LAMBDA {
        auto const token = op.at(place_of(k + n * tokens));
        if constexpr (in_logs)
          x[n] = {token.log_decay(0, columns), token.value(columns)};
        else
          x[n] = {token.decay(0, columns), token.value(columns)};
        smallest = at_most(smallest, x[n].factor);
        largest = at_least(largest, x[n].factor);
      });
      if constexpr (in_logs) {
        if (all_below(vector(-small_log<T>), smallest) &&
            all_below(largest, vector(small_log<T>))) {
          if (form.kind != held::less_one) {
            state = repeat_last<C>(state);
            change_form(before, form, {held::less_one, vector(T(1))});
          }
          unroll<K>([&](auto n) WANE_INLINE_LAMBDA { x[n].factor = expm1_near_zero(x[n].factor); });
          enter<held::less_one>(x, before, form.taken, state, states);
        } else {
          if (form.kind == held::less_one) forget(before, form);
          enter_by_logs(x, state, states);
        }
      } else {
        held_form<vector> const now = form_of<C>(smallest);
        if (now.kind != form.kind || now.kind == held::by_channel) [[unlikely]]
          change_form(before, form, now);
        if (form.kind == held::whole) [[likely]] {
          enter<held::whole>(x, before, form.taken, state, states);
        } else {
          unroll<K>([&](auto n) WANE_INLINE_LAMBDA { x[n].factor = x[n].factor - form.taken; });
          if (form.kind == held::less_one)
            enter<held::less_one>(x, before, form.taken, state, states);
          else
            enter<held::by_channel>(x, before, form.taken, state, states);
        }
      }
      vector total = states[0];
      unroll<K - 1>([&](auto n) WANE_INLINE_LAMBDA { total += states[n + 1]; });
      vector const growth = in_logs ? largest : at_least(-smallest, largest);
      if (!all_finite(total) || !all_below(growth, vector(most_growth<T>))) [[unlikely]] {
        // A product of factors may leave the range where the states do not.
        for (int c = 0; c < C; ++c) carry[c] = state[width - C + c];
        one_by_one(w.part(k, K * tokens), carry);
        state = entered_with(carry);
        forget(before, form);
      } else {
        state = states[K - 1];
        unroll<K>([&](auto n) WANE_INLINE_LAMBDA {
          if constexpr (Stream && std::is_same_v<T, Out>)
            stream(output.element(w.token(k + n * tokens), columns.first), states[n]);
          else
            output.write(place_of(k + n * tokens), columns, states[n]);
        });
      }
      k += K * tokens;
    };
    while (k + 4 * tokens <= w.count) block(std::integral_constant<int, 4>{});
    while (k < w.count) block(std::integral_constant<int, 1>{});
    for (int c = 0; c < C; ++c) carry[c] = state[width - C + c];
  }

  template <held Form, int K>
  WANE_HOST_INLINE static void enter(token_window<vector> (&x)[K], windows& before, vector taken,
                                     vector state, vector (&states)[K]) {
    widen_windows<C, Form>(x, before, taken);
    unroll<K>([&](auto n) WANE_INLINE_LAMBDA {
      vector next = multiply_add(x[n].factor, state, x[n].drive);
      if constexpr (Form == held::less_one) next = state + next;
      if constexpr (Form == held::by_channel) next = multiply_add(taken, state, next);
      state = states[n] = next;
    });
  }

  // Factors rounded within one vector cost nothing; what is carried on goes by sums of logs.
  template <int K>
  WANE_HOST_INLINE static void enter_by_logs(token_window<vector> (&x)[K], vector state,
                                             vector (&states)[K]) {
    unroll<K>([&](auto n) WANE_INLINE_LAMBDA {
      auto const decay = decay_from_log(sum_vector<C>(x[n].factor));
      x[n].factor = factor_of(decay_from_log(x[n].factor));
      scan_vector<C, held::whole>(x[n]);
      state = repeat_last<C>(state);
      state = states[n] =
          multiply_add(decay.whole, state, multiply_add(decay.rest, state, x[n].drive));
    });
  }

  static void forget(windows& before, held_form<vector>& form) {
    for (auto& window : before) window = {vector(T(1)), vector(T(0))};
    form = {};
  }
  static void change_form(windows& before, held_form<vector>& form, held_form<vector> const& now) {
    for (auto& window : before) window.factor = window.factor + (form.taken - now.taken);
    form = now;
  }

  WANE_HOST_INLINE static vector entered_with(T const (&carry)[C]) {
    vector state;
    for (int l = 0; l < width; ++l) state.v[l] = carry[l % C];
    return state;
  }

  Op const& op_;
  sequence_view<Out> const& output_;
  time_columns<C> columns_;
};

}  // namespace wane
