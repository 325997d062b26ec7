// Channelwise recurrences with few channels: one vector holds several tokens of theirs.
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>

#include "wane/run/columns.hpp"
#include "wane/run/vector_scan.hpp"

namespace wane {

// What the tokens up to each lane's do to a state, S -> factor S + drive; in the near form `factor`
// is the factor less 1. The windows of a vector hold 1, 2, 4, ... tokens and reach back into the
// vector before.
template <class V>
struct token_window {
  V factor, drive;
};

// `first`, and after it `second`.
template <bool Near, class V>
WANE_HOST_INLINE token_window<V> after(token_window<V> const& first,
                                       token_window<V> const& second) {
  V const drive = multiply_add(second.factor, first.drive, second.drive);
  if constexpr (Near)
    return {multiply_add(second.factor, first.factor, second.factor + first.factor),
            first.drive + drive};
  else
    return {second.factor * first.factor, drive};
}

// K vectors one after another, from windows of one token to windows of W / C; before[n] is the last
// vector before them at level n. Level by level, so that the vectors advance abreast. (Kogge and
// Stone 1973)
template <int C, bool Near, int K, class V, int Levels>
WANE_HOST_INLINE void widen_windows(token_window<V> (&x)[K], token_window<V> (&before)[Levels]) {
  unroll<Levels>([&](auto level) WANE_INLINE_LAMBDA {
    constexpr int shift = C << level;
    token_window<V> earlier[K];
    unroll<K>([&](auto k) WANE_INLINE_LAMBDA {
      token_window<V> const& previous = k == 0 ? before[level] : x[k == 0 ? 0 : k - 1];
      earlier[k] = {shift_up<shift>(x[k].factor, previous.factor),
                    shift_up<shift>(x[k].drive, previous.drive)};
    });
    before[level] = x[K - 1];
    unroll<K>([&](auto k) WANE_INLINE_LAMBDA { x[k] = after<Near>(earlier[k], x[k]); });
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
    [[maybe_unused]] bool near = false;
    forget(before);
    index k = 0;
    auto const place_of = [&](index n) WANE_INLINE_LAMBDA {
      return place<time_lanes<width, C>>{
          w.batch, {w.first + Direction * n, Direction}, w.head, w.position + n};
    };
    auto const block = [&]<int K>(std::integral_constant<int, K>) WANE_INLINE_LAMBDA {
      vector states[K], smallest = vector(T(1)), largest = vector(T(-1));
      if constexpr (in_logs) {
        vector from = state;
        unroll<K>([&](auto n) WANE_INLINE_LAMBDA {
          auto const token = op.at(place_of(k + n * tokens));
          largest = at_least(largest, token.log_decay(0, columns));
          states[n] = scan<C, true, vector>(token, columns).apply(from);
          from = repeat_last<C>(states[n]);
        });
      } else {
        token_window<vector> x[K];
        unroll<K>([&](auto n) WANE_INLINE_LAMBDA {
          auto const token = op.at(place_of(k + n * tokens));
          x[n] = {token.decay(0, columns), token.value(columns)};
          smallest = at_most(smallest, x[n].factor);
          largest = at_least(largest, x[n].factor);
        });
        bool const now_near = all_below(vector(near_one<T>), smallest);
        if (now_near != near) [[unlikely]]
          change_form(before, near = now_near);
        if (near) [[unlikely]]
          enter<true>(x, before, state, states);
        else
          enter<false>(x, before, state, states);
      }
      vector total = states[0];
      unroll<K - 1>([&](auto n) WANE_INLINE_LAMBDA { total += states[n + 1]; });
      vector const growth = at_least(-smallest, largest);
      if (!all_finite(total) || !all_below(growth, vector(most_growth<T>))) [[unlikely]] {
        // A product of factors may leave the range where the states do not.
        for (int c = 0; c < C; ++c) carry[c] = state[width - C + c];
        one_by_one(w.part(k, K * tokens), carry);
        state = entered_with(carry);
        forget(before);
        near = false;
      } else {
        state = in_logs ? repeat_last<C>(states[K - 1]) : states[K - 1];
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

  template <bool Near, int K>
  WANE_HOST_INLINE static void enter(token_window<vector> (&x)[K], windows& before, vector state,
                                     vector (&states)[K]) {
    if constexpr (Near)
      unroll<K>([&](auto n) WANE_INLINE_LAMBDA { x[n].factor = x[n].factor - vector(T(1)); });
    widen_windows<C, Near>(x, before);
    unroll<K>([&](auto n) WANE_INLINE_LAMBDA {
      vector const inner = multiply_add(x[n].factor, state, x[n].drive);
      state = states[n] = Near ? state + inner : inner;
    });
  }

  static void forget(windows& before) {
    for (auto& window : before) window = {vector(T(1)), vector(T(0))};
  }
  static void change_form(windows& before, bool near) {
    for (auto& window : before) window.factor = window.factor + vector(near ? T(-1) : T(1));
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
