// Channelwise recurrences with few channels: one vector holds several tokens of each channel.
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>

#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/run/channels/columns.hpp"
#include "wane/run/channels/vector_scan.hpp"

namespace wane::impl {

// Widens the windows of K successive vectors from one token to W / C tokens. before[n] is the last
// vector before them at level n. Each level is done for all vectors before the next level, so that
// their operations overlap. (Kogge and Stone 1973)
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

// Runs channels [column, column + C) of a walk.
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
      vectors<1, streamable<T, Out>>(body, carry);
    else
      vectors<1, false>(body, carry);
    one_by_one(w.part(head + body.count, tokens), carry);
  }

 private:
  static constexpr std::uintptr_t token_bytes = C * sizeof(T);

  // Bytes from the first output to the next address that is a multiple of simd_bytes.
  std::uintptr_t misaligned_bytes(walk const& w) const {
    auto const address =
        reinterpret_cast<std::uintptr_t>(output_.element(w.token(0), columns_.first));
    return (simd_bytes - address % simd_bytes) % simd_bytes;
  }
  bool can_align(walk const& w) const {
    return streamable<T, Out> && w.stride > 0 && misaligned_bytes(w) % token_bytes == 0;
  }
  index head_tokens(walk const& w) const {
    return std::min(w.count, static_cast<index>(misaligned_bytes(w) / token_bytes));
  }

  void one_by_one(walk const& w, T (&carry)[C]) const {
    walk_columns_one_by_one(op_, w, columns_.first, columns_.first + C, carry, output_);
  }

  // The values that pass from block to block: the states after each token of the last vector, the
  // last windows of each level, and the form of their factors.
  struct progress {
    vector state;
    windows before;
    held_form<vector> form;
  };

  // The least and the greatest factor of a block in each lane. If the tokens give logs, these are
  // logs.
  struct extremes {
    vector smallest = vector(T(1)), largest = vector(T(-1));

    held_form<vector> form() const {
      if constexpr (!in_logs) return form_of<C>(smallest);
      bool const small =
          all_below(vector(-small_log<T>), smallest) && all_below(largest, vector(small_log<T>));
      return small ? held_form<vector>{held::less_one, vector(T(1))} : held_form<vector>{};
    }
    // Whether products of the factors are safe. Products of larger factors may overflow although
    // the states do not.
    bool may_multiply() const {
      return all_below(in_logs ? largest : at_least(-smallest, largest), vector(most_growth<T>));
    }
  };

  template <int Direction, bool Stream>
  void vectors(walk const& w, T (&carry)[C]) const {
    index k = 0;
    progress now = entered_with(carry);
    blocks<4, Direction, Stream>(w, k, now);
    blocks<1, Direction, Stream>(w, k, now);
    leave(now, carry);
  }

  // Runs blocks of K vectors from token `begin` on, as long as whole blocks are left.
  template <int K, int Direction, bool Stream>
  [[gnu::noinline]] void blocks(walk const w, index& begin, progress& all) const {
    series_runner const here = *this;  // a copy in registers, which no store can change
    progress now = all;
    index k = begin;
    while (k + K * tokens <= w.count) {
      token_window<vector> x[K];
      change_form(now, here.template read<Direction>(w, k, x).form());
      bool fits = true;
      if (now.form.kind == held::whole)
        fits = here.template blocks_of<held::whole, K, Direction, Stream>(w, k, now);
      else if (now.form.kind == held::less_one)
        fits = here.template blocks_of<held::less_one, K, Direction, Stream>(w, k, now);
      else if constexpr (!in_logs && C > 1)
        fits = here.template blocks_of<held::by_channel, K, Direction, Stream>(w, k, now);
      if (!fits) {
        T carry[C];
        leave(now, carry);
        one_by_one(w.part(k, K * tokens), carry);
        now = entered_with(carry);
        k += K * tokens;
      }
    }
    begin = k;
    all = now;
  }

  // Runs blocks as long as they keep the form. Returns false at a block that must go token by
  // token. In the form by_channel, channels may change between the other two forms; the loop ends
  // when all channels have the same form in two successive blocks.
  template <held Form, int K, int Direction, bool Stream>
  WANE_HOST_INLINE bool blocks_of(walk const& w, index& k, progress& now) const {
    for (; k + K * tokens <= w.count; k += K * tokens) {
      token_window<vector> x[K];
      vector states[K];
      extremes const range = read<Direction>(w, k, x);
      if constexpr (Form == held::by_channel) {
        held_form<vector> const form = range.form();
        if (form.kind != Form && is_same_form(form, now.form)) break;
        change_form(now, form);
      } else if (!keeps<Form>(range)) {
        break;
      }
      enter<Form>(x, now, states);
      // A state that is not finite stays so in a block, so its last vector is enough to check.
      if (!all_finite(states[K - 1]) || !range.may_multiply()) [[unlikely]]
        return false;
      now.state = states[K - 1];
      unroll<K>([&](auto n) WANE_INLINE_LAMBDA {
        if constexpr (Stream)
          stream(output_.element(w.token(k + n * tokens), columns_.first), states[n]);
        else
          output_.write(place_of<Direction>(w, k + n * tokens), columns_, states[n]);
      });
    }
    return true;
  }

  template <int Direction>
  WANE_HOST_INLINE static auto place_of(walk const& w, index n) {
    return place<time_lanes<width, C>>{
        w.batch, {w.first + Direction * n, Direction}, w.head, w.position + n, w.sequence};
  }

  // Reads windows of one token each, with logs in place of factors if the tokens give logs.
  template <int Direction, int K>
  WANE_HOST_INLINE extremes read(walk const& w, index k, token_window<vector> (&x)[K]) const {
    extremes range;
    unroll<K>([&](auto n) WANE_INLINE_LAMBDA {
      auto const token = op_.at(place_of<Direction>(w, k + n * tokens));
      if constexpr (in_logs)
        x[n] = {token.log_decay(0, columns_), token.value(columns_)};
      else
        x[n] = {token.decay(0, columns_), token.value(columns_)};
      range.smallest = at_most(range.smallest, x[n].factor);
      range.largest = at_least(range.largest, x[n].factor);
    });
    return range;
  }

  template <held Form>
  WANE_HOST_INLINE static bool keeps(extremes const& range) {
    if (Form == held::whole && !in_logs && lanes_below(vector(near_one<T>), range.smallest) == 0)
      return true;
    return range.form().kind == Form;
  }

  template <held Form, int K>
  WANE_HOST_INLINE static void enter(token_window<vector> (&x)[K], progress& now,
                                     vector (&states)[K]) {
    if constexpr (in_logs && Form == held::whole) {
      enter_by_logs(x, now.state, states);
    } else {
      vector const taken = now.form.taken;
      unroll<K>([&](auto n) WANE_INLINE_LAMBDA {
        if constexpr (in_logs)
          x[n].factor = expm1_near_zero(x[n].factor);
        else if constexpr (Form != held::whole)
          x[n].factor = x[n].factor - taken;
      });
      widen_windows<C, Form>(x, now.before, taken);
      unroll<K>([&](auto n) WANE_INLINE_LAMBDA {
        vector const& state = n == 0 ? now.state : states[n == 0 ? 0 : n - 1];
        states[n] = multiply_add(x[n].factor, state, x[n].drive);
        if constexpr (Form == held::less_one) states[n] = state + states[n];
        if constexpr (Form == held::by_channel) states[n] = multiply_add(taken, state, states[n]);
      });
    }
  }

  // Rounded factors join the tokens within one vector only. The sum of the logs carries the state
  // from vector to vector, so slow decays are not rounded to 1.
  template <int K>
  WANE_HOST_INLINE static void enter_by_logs(token_window<vector> (&x)[K], vector state,
                                             vector (&states)[K]) {
    unroll<K>([&](auto n) WANE_INLINE_LAMBDA {
      auto const decay = decay_from_log(sum_vector<C>(x[n].factor));
      x[n].factor = factor_of(decay_from_log(x[n].factor));
      scan_vector<C, held::whole>(x[n]);
      state = repeat_last<C>(state);
      state = states[n] = carried_without_reset(decay, state, x[n].drive);
    });
  }

  // Sets the form of the factors in `now`. enter_by_logs keeps no windows, so a change to or from
  // it starts with windows of no tokens.
  static void change_form(progress& now, held_form<vector> const& form) {
    if (in_logs && form.kind != now.form.kind) {
      now.state = repeat_last<C>(now.state);
      for (auto& window : now.before) window = {vector(T(1)) - form.taken, vector(T(0))};
    } else {
      for (auto& window : now.before) window.factor = window.factor + (now.form.taken - form.taken);
    }
    now.form = form;
  }

  static progress entered_with(T const (&carry)[C]) {
    progress now;
    for (int l = 0; l < width; ++l) now.state.v[l] = carry[l % C];
    for (auto& window : now.before) window = {vector(T(1)), vector(T(0))};
    return now;
  }
  static void leave(progress const& now, T (&carry)[C]) {
    for (int c = 0; c < C; ++c) carry[c] = now.state[width - C + c];
  }

  Op op_;
  sequence_view<Out> output_;
  time_columns<C> columns_;
};

}  // namespace wane::impl
