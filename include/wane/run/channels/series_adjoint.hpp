// The adjoint of channelwise recurrences with few channels: a vector holds several tokens of each.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "wane/core/call/adjoint_options.hpp"
#include "wane/core/numbers/aligned.hpp"
#include "wane/core/numbers/decay_derivative.hpp"
#include "wane/run/channels/series.hpp"
#include "wane/run/shared/gradients.hpp"
#include "wane/run/shared/state_lanes.hpp"

namespace wane::impl {

template <class Time>
WANE_HOST_INLINE place<Time> later_by(index tokens, place<Time> where) {
  if constexpr (std::is_same_v<Time, index>)
    where.time += tokens;
  else
    where.time.first += tokens;
  return where;
}

// The tokens of an operator from `origin` on.
template <class Op>
struct states_from {
  static constexpr bool is_channelwise = true;
  Op op;
  index origin;

  recurrence_shape shape() const { return op.shape(); }
  wane::layout layout() const { return op.layout(); }
  template <class Time>
  WANE_HOST_INLINE auto at(place<Time> where) const {
    return op.at(later_by(origin, where));
  }
};

// The cotangents dL/dS as a recurrence against the order of tokens: its drive is dL/dy, its decay
// that of the token `next` tokens behind.
template <class Op, class Out>
struct cotangents_from {
  static constexpr bool is_channelwise = true;
  using accumulate = accumulate_type<Op>;
  Op op;
  sequence_view<Out const> output_gradient;
  index origin, next;

  recurrence_shape shape() const { return op.shape(); }
  wane::layout layout() const { return op.layout(); }

  template <class Time>
  struct token {
    token_of<Op, Time> behind;
    sequence_view<Out const> const& output_gradient;
    place<Time> where;

    template <class Column>
    WANE_HOST_INLINE auto log_decay(index i, Column j) const requires
        has_element_log_decay<token_of<Op, Time>, Column> {
      return behind.log_decay(i, j);
    }
    template <class Column>
    WANE_HOST_INLINE auto decay(index i, Column j) const requires
        has_element_plain_decay<token_of<Op, Time>, Column> {
      return behind.decay(i, j);
    }
    template <class Column>
    WANE_HOST_INLINE auto value(Column j) const {
      return convert<accumulate>(output_gradient.read(where, j));
    }
  };
  template <class Time>
  WANE_HOST_INLINE token<Time> at(place<Time> where) const {
    where = later_by(origin, where);
    return {op.at(later_by(next, where)), output_gradient, where};
  }
};

// Whether the sink of some tokens takes vectors in which each token has C channels.
template <class Op, class Gradients, int C>
concept gives_series = reads_tokens<Op> && requires(Gradients const& gradients) {
  gradients.layout();
  sink_at(gradients, std::declval<Op const&>(),
          place<time_lanes<simd_width<accumulate_type<Op>>, C>>{})
      .element(time_columns<C>{},
               element_gradient<simd<accumulate_type<Op>, simd_width<accumulate_type<Op>>>>{});
};

// Channels [column, column + C) of a walk, a chunk of tokens at a time.
template <int C, channelwise Op, class Out, class Gradients, class State>
class series_adjoint {
 public:
  using T = accumulate_type<Op>;

  series_adjoint(Op const& op, sequence_view<Out const> const& output_gradient,
                 Gradients const& gradients, adjoint_options<State> const& options, index column)
      : op_(op),
        output_gradient_(output_gradient),
        gradients_(gradients),
        options_(options),
        columns_{column},
        states_(numbers + 2 * C),
        cotangents_(numbers) {}

  void operator()(walk const& w) {
    T state[C], cotangent[C];
    for (int c = 0; c < C; ++c) {
      state[c] = load_state<T>(options_.initial, w, 0, columns_.first + c);
      cotangent[c] = load_state<T>(options_.final_gradient, w, 0, columns_.first + c);
    }
    index const chunks = (w.count + chunk - 1) / chunk;
    aligned_numbers<T> const kept(chunks * C);  // the states before each chunk
    for (index k = 0; k < chunks; ++k) {
      std::copy_n(state, C, kept.data() + k * C);
      if (k + 1 < chunks) find_states(w.part(k * chunk, chunk), state, {});
    }
    for (index k = chunks; k-- > 0;) {
      walk const part = w.part(k * chunk, chunk);
      std::copy_n(kept.data() + k * C, C, state);
      std::copy_n(state, C, states_.data() + (w.stride > 0 ? 0 : (part.count + 1) * C));
      find_states(part, state, numbers_at(states_.data() + C));
      find_cotangents(part, k + 1 == chunks, cotangent);
      give(part);
    }
    if (!options_.initial_gradient.present()) return;
    for (int c = 0; c < C; ++c) {
      index const j = columns_.first + c;
      save_state(options_.initial_gradient, w, 0, j,
                 w.count == 0 ? cotangent[c]
                              : carried(decay_of(op_.at(w.token(0)), 0, j), cotangent[c], T(0)));
    }
  }

 private:
  static constexpr int width = simd_width<T>, tokens = width / C;
  // Numbers and tokens of a chunk.
  static constexpr index numbers = 4096, chunk = numbers / C;
  using vector = simd<T, width>;

  // Whether the states are the outputs, as they were computed.
  bool knows_states() const {
    layout const lies = layout_of(options_.outputs);
    return std::is_same_v<State, T> && options_.outputs.data &&
           (C == 1 ? lies.series : lies.tokens);
  }

  // Tokens of a part in order of their time, the first as number 0.
  static index origin_of(walk const& w) { return std::min(w.first, w.token(w.count - 1).time); }
  static walk from_zero(walk w) {
    w.first -= origin_of(w);
    return w;
  }
  static sequence_view<T> numbers_at(T* data) {
    return {data, {1, chunk, 1, C}, {0, C, 0, C == 1 ? 0 : 1}};
  }

  // Calls body(type, place, columns) for the vectors of a part, then for its last tokens number by
  // number.
  template <class Body>
  WANE_HOST_INLINE void each(walk const& w, Body const& body) const {
    index k = 0;
    for (; k + tokens <= w.count; k += tokens) {
      place<> const at = w.token(k);
      body(std::type_identity<vector>{},
           place<time_lanes<width, C>>{
               at.batch, {at.time, w.stride}, at.head, at.position, at.sequence},
           columns_);
    }
    for (; k < w.count; ++k)
      for (int c = 0; c < C; ++c) body(std::type_identity<T>{}, w.token(k), columns_.first + c);
  }

  // Takes `state` from before a part to behind it, and writes the states after each token to `to`.
  void find_states(walk const& w, T (&state)[C], sequence_view<T> const& to) const {
    index const origin = origin_of(w);
    if (!knows_states())
      return series_runner<C, states_from<Op>, T, T>({op_, origin}, to, columns_.first)(
          from_zero(w), false, state);
    if (to.data)
      each(from_zero(w), [&](auto, auto at, auto columns) WANE_INLINE_LAMBDA {
        to.write(at, columns, convert<T>(options_.outputs.read(later_by(origin, at), columns)));
      });
    for (int c = 0; c < C; ++c)
      state[c] = convert<T>(options_.outputs.read(w.token(w.count - 1), columns_.first + c));
  }
  // Takes `cotangent`, dL/dS, from behind a part to its first token, and writes those of all
  // tokens. Behind the last part is no token whose decay counts.
  void find_cotangents(walk const& w, bool is_last, T (&cotangent)[C]) const {
    sequence_view<T> const to = numbers_at(cotangents_.data());
    walk back = from_zero(w);
    back.first = back.token(w.count - 1).time;
    back.stride = -w.stride;
    if (is_last)
      for (int c = 0; c < C; ++c) {
        index const j = columns_.first + c;
        cotangent[c] += convert<T>(output_gradient_.read(w.token(w.count - 1), j));
        to.write(back.token(0), j, cotangent[c]);
      }
    using backward = cotangents_from<Op, Out>;
    series_runner<C, backward, T, T>({op_, output_gradient_, origin_of(w), w.stride}, to,
                                     columns_.first)(back.part(is_last, w.count), false, cotangent);
  }
  [[gnu::noinline]] void give(walk const w) const {
    Op const op = op_;
    Gradients const gradients = gradients_;
    index const origin = origin_of(w);
    sequence_view<T> const before = numbers_at(states_.data() + C - w.stride * C),
                           cotangents = numbers_at(cotangents_.data());
    each(from_zero(w), [&]<class V>(std::type_identity<V>, auto at,
                                    auto columns) WANE_INLINE_LAMBDA {
      V const g = cotangents.read(at, columns);
      auto const there = later_by(origin, at);
      auto const by_decay =
          decay_derivative(decay_of(op.at(there), 0, columns), V(before.read(at, columns)));
      sink_at(gradients, op, there).element(columns, element_gradient<V>{g, multiply(by_decay, g)});
    });
  }

  Op const& op_;
  sequence_view<Out const> const& output_gradient_;
  Gradients const& gradients_;
  adjoint_options<State> const& options_;
  time_columns<C> const columns_;
  // Of a chunk, in order of time: the states, and room for the one before them on either side; and
  // the cotangents.
  aligned_numbers<T> const states_, cotangents_;
};

}  // namespace wane::impl
