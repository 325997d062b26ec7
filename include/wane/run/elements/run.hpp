// run for memories with few rows that decay by element: the states of a strip stay in registers.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "wane/core/numbers/simd_lanes.hpp"
#include "wane/core/numbers/unroll.hpp"
#include "wane/run/shared/pieces.hpp"

namespace wane::impl {

// Memories with rows and decays by element, whose terms by column can be read in lanes.
template <class Op>
concept runs_by_elements =
    scannable<Op> && !channelwise<Op> && !normalised_recurrence<Op> && reads_lanes<Op> &&
    decays_by_element<token_of<Op>> && !reads_before_decay<token_of<Op>>;

// The vectors of columns and the most rows of a strip, and the tokens that it takes before the next
// strip's turn. The tokens are few, so that they stay in cache until all strips have read them.
inline constexpr int vectors_of_strip = 4, rows_of_strip = 64;
inline constexpr index tokens_of_strip = 32;

// The token x at the columns of each vector of a strip.
template <class Token, class Columns, int R, int... n>
WANE_HOST_INLINE auto in_columns(Token const& x, Columns const (&columns)[R],
                                 std::integer_sequence<int, n...>) {
  using Seen = std::remove_cvref_t<decltype(column_of(x, columns[0]))>;
  return std::array<Seen, R>{column_of(x, columns[n])...};
}

// The decays of a strip. If the operator has rates, they are read once and held for all tokens.
template <int R, class V, class Op, class Columns>
class strip_decays {
  using T = typename V::scalar;
  static constexpr T least = std::numeric_limits<T>::min();

 public:
  static constexpr bool in_rates = has_rates<Op, Columns>;

  WANE_HOST_INLINE strip_decays(Op const& op, index head, Columns const (&columns)[R], index rows) {
    if constexpr (in_rates) {
      rates_.none_above_zero = true;
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA { rates_.lowest[r] = V(T(0)); });
      for (index i = 0; i < rows; ++i)
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
          V const rate = rates_.of[i][r] = op.rate(head, i, columns[r]);
          rates_.lowest[r] = at_most(rate, rates_.lowest[r]);
          rates_.none_above_zero &= all_below(rate, V(least));
        });
    }
  }
  // Whether all log decays of a token are at most 0, and none resets. They then need no checks.
  template <class Seen>
  WANE_HOST_INLINE bool within(std::array<Seen, R> const& x, Columns const (&columns)[R]) const {
    bool all = in_rates;
    if constexpr (in_rates) {
      all = rates_.none_above_zero;
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        V const step = x[r].step(columns[r]);
        all &= all_below(V(-least), step);
        all &= all_below(V(lowest_log_without_reset<T>), multiply(rates_.lowest[r], step));
      });
    }
    return all;
  }
  // Within: what within() answered of x.
  template <bool Within = false, class Seen>
  WANE_HOST_INLINE auto at(Seen const& x, index i, int r, Columns columns) const {
    if constexpr (Within)
      return decay_from_log_within(multiply(rates_.of[i][r], x.step(columns)));
    else if constexpr (in_rates)
      return decay_from_log(multiply(rates_.of[i][r], x.step(columns)));
    else
      return decay_of(x, i, columns);
  }

  WANE_HOST_INLINE V rate(index i, int r) const requires in_rates { return rates_.of[i][r]; }

 private:
  struct held {
    V of[rows_of_strip][R], lowest[R];
    bool none_above_zero;
  };
  struct nothing {};
  std::conditional_t<in_rates, held, nothing> rates_;
};

// Runs one strip over a walk; `state` has `rows` rows.
template <int R, class V, runs_by_elements Op, class Columns, class Out>
WANE_HOST_INLINE void walk_elements(Op const& op, walk const& w, Columns const (&columns)[R],
                                    index rows, V (&state)[rows_of_strip][R],
                                    sequence_view<Out> const& output) {
  using Token = token_of<Op>;
  strip_decays<R, V, Op, Columns> const decays(op, w.head, columns, rows);
  for (index k = 0; k < w.count; ++k) {
    auto const at = w.token(k);
    Token const x = op.at(at);
    V value[R], y[R];
    auto const seen = in_columns(x, columns, std::make_integer_sequence<int, R>{});
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
      value[r] = seen[r].value(columns[r]);
      y[r] = V(typename V::scalar(0));
      if constexpr (has_direct<Token>) y[r] = multiply(V(x.direct()), value[r]);
      if constexpr (has_skip<Token>) y[r] = y[r] + seen[r].skip(columns[r]);
    });
    auto const take = [&](auto within) WANE_INLINE_LAMBDA {
      for (index i = 0; i < rows; ++i) {
        V key, query;
        if constexpr (has_key<Token>) key = V(x.key(i));
        if constexpr (has_query<Token>) query = V(x.query(i));
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
          V b = value[r];
          if constexpr (has_key<Token>) b = multiply(key, b);
          auto const decay = decays.template at<within>(seen[r], i, r, columns[r]);
          V const before = state[i][r], s = [&]() WANE_INLINE_LAMBDA {
            if constexpr (within)
              return carried_without_reset(decay, before, b);
            else
              return carried(decay, before, b);
          }();
          V const read = read_from<Token>(decay, before, s);
          state[i][r] = s;
          if constexpr (has_query<Token>)
            y[r] = multiply_add(query, read, y[r]);
          else
            y[r] = y[r] + read;
        });
      }
    };
    if (decays.within(seen, columns))
      take(std::bool_constant<decltype(decays)::in_rates>{});
    else
      take(std::false_type{});
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA { output.write(at, columns[r], y[r]); });
  }
}

// Runs columns [first, last) of a walk. states(i, j - first) is the state of row i and column j,
// before and after; its columns are neighbours in memory.
template <runs_by_elements Op, class Out>
class element_runner {
 public:
  using T = accumulate_type<Op>;
  using V = simd<T, simd_width<T>>;
  static constexpr index width = V::width;

  element_runner(Op const& op, sequence_view<Out> const& output) : op_(op), output_(output) {}

  // Whether columns are neighbours in all tensors and a strip has room for the rows.
  bool usable() const {
    return (layout_of(op_) & layout_of(output_)).columns &&
           recurrence_shape(op_.shape()).rows <= rows_of_strip;
  }

  void operator()(walk const& w, index first, index last, view<T, 2> states) const {
    for (index k = 0; k < w.count; k += tokens_of_strip) {
      walk const part = w.part(k, tokens_of_strip);
      index j = first;
      for (; j + vectors_of_strip * width <= last; j += vectors_of_strip * width)
        strip(part, j, states, first);
      for (; j < last; j += width)
        rest(part, j, static_cast<int>(std::min(width, last - j)), states, first);
    }
  }

 private:
  [[gnu::noinline]] void strip(walk const w, index j, view<T, 2> states, index first) const {
    constexpr int R = vectors_of_strip;
    Op const op = op_;
    sequence_view<Out> const output = output_;
    index const rows = states.extent[0];
    lanes<V::width> columns[R];
    V state[rows_of_strip][R];
    unroll<R>([&](auto r) WANE_INLINE_LAMBDA { columns[r].first = j + r * width; });
    for (index i = 0; i < rows; ++i)
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        state[i][r] = V::load(&states(i, columns[r].first - first));
      });
    walk_elements<R>(op, w, columns, rows, state, output);
    for (index i = 0; i < rows; ++i)
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        state[i][r].store(&states(i, columns[r].first - first));
      });
  }

  [[gnu::noinline]] void rest(walk const& w, index j, int count, view<T, 2> states,
                              index first) const {
    index const rows = states.extent[0];
    partial_lanes<V::width> const columns[] = {{j, count}};
    V state[rows_of_strip][1];
    for (index i = 0; i < rows; ++i)
      state[i][0] = load_first<T, V::width>(&states(i, j - first), count);
    walk_elements<1>(op_, w, columns, rows, state, output_);
    for (index i = 0; i < rows; ++i) store_first(&states(i, j - first), count, state[i][0]);
  }

  Op const& op_;
  sequence_view<Out> const& output_;
};

// Precondition: element_runner::usable().
template <runs_by_elements Op, class Out, class State>
void run_elements(Op const& op, sequence_view<Out> const& output,
                  run_options<State> const& options) {
  using runner = element_runner<Op, Out>;
  using T = typename runner::T;
  runner const advance(op, output);
  recurrence_shape const shape = op.shape();
  index const walks = walks_of(shape, options);
  int const threads = threads_to_use(options.threads);
  index const piece = columns_per_task(box_of(shape, options).columns, walks, threads,
                                       vectors_of_strip * runner::width);
  for_each_piece(op, options, piece, threads,
                 [&](walk const& w, index first, index last, auto const& state) {
                   std::vector<T> held(static_cast<std::size_t>(shape.rows * (last - first)));
                   view<T, 2> const states(held.data(), shape.rows, last - first);
                   state.load_rows(shape.rows, first, last, held.data(), last - first);
                   advance(w, first, last, states);
                   state.save_rows(shape.rows, first, last, held.data(), last - first);
                 });
}

}  // namespace wane::impl
