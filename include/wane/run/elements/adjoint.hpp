// The adjoint of memories that decay by element. Loops: blocks of time, strips of columns.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "wane/core/call/adjoint_options.hpp"
#include "wane/core/numbers/aligned.hpp"
#include "wane/core/numbers/decay_derivative.hpp"
#include "wane/run/elements/run.hpp"
#include "wane/run/shared/gradients.hpp"
#include "wane/run/shared/state_lanes.hpp"

namespace wane::impl {

template <class Op>
concept has_element_adjoint = runs_by_elements<Op> && !time_invariant<Op>;

// The adjoint of one walk. It keeps the states before every block of time. For one strip of one
// block it keeps the decays (decays_) and the derivatives of w s by what a token states (left_).
// Sums over columns stay in lanes until all strips are done; sums over the tokens of a block stay
// in lanes until the strip is done.
template <has_element_adjoint Op, class Out, class Gradients>
class element_adjoint {
 public:
  using T = accumulate_type<Op>;
  using V = simd<T, simd_width<T>>;
  using Token = token_of<Op>;
  using Sink = sink_of<Gradients, Op>;
  using Decay =
      decltype(widen<V>(decay_of(std::declval<Token>(), index{}, std::declval<lanes<V::width>>())));
  static constexpr index width = V::width, most_tokens = tokens_of_strip;
  static constexpr bool in_rates = has_rates<Op>,
                        sums_rates = in_rates && takes_rates<Gradients, wider<T>>;

  element_adjoint(Op const& op, sequence_view<Out const> const& output_gradient,
                  Gradients const& gradients, walk const& w)
      : op_(op),
        output_gradient_(output_gradient),
        gradients_(gradients),
        walk_(w),
        rows_(recurrence_shape(op.shape()).rows),
        last_(recurrence_shape(op.shape()).columns),
        columns_((last_ + width - 1) / width * width),
        blocks_(std::max<index>(1, (w.count + most_tokens - 1) / most_tokens)),
        kept_(blocks_ * rows_ * columns_),
        cotangent_(rows_ * columns_),
        decays_(size((most_tokens + 1) * rows_ * vectors_of_strip)),
        left_(size(most_tokens * rows_ * vectors_of_strip)),
        rates_(size(sums_rates ? rows_ * columns_ : 0)),
        sums_(size(most_tokens), head_gradients<V>(rows_)) {}

  template <class State>
  void operator()(adjoint_options<State> const& options) {
    for_each_vector([&](index i, auto columns) {
      load_state<V>(options.initial, walk_, i, columns).store(at(kept(0), i, columns));
      load_state<V>(options.final_gradient, walk_, i, columns)
          .store(at(cotangent_.data(), i, columns));
    });
    sequence_view<Out> const nowhere{};
    element_runner<Op, Out> const advance(op_, nowhere);
    for (index b = 0; b + 1 < blocks_; ++b) {
      std::copy_n(kept(b), rows_ * columns_, kept(b + 1));
      advance(block(b), 0, last_, {kept(b + 1), {rows_, last_}, {columns_, 1}});
    }
    for (index b = blocks_ - 1; b >= 0; --b) {
      for (auto& sums : sums_) sums.clear();
      for_each_strip([&](auto const& columns) { strip(b, columns); });
      for (index k = 0; k < block(b).count; ++k)
        hand_over(op_, gradients_, block(b).token(k), sums_[size(k)], true);
    }
    if (options.initial_gradient.present())
      for_each_vector([&](index i, auto columns) {
        save_state(options.initial_gradient, walk_, i, columns,
                   V::load(at(cotangent_.data(), i, columns)));
      });
    if constexpr (sums_rates)
      for (index i = 0; i < rows_; ++i)
        for (index j = 0; j < last_; ++j)
          gradients_.rate(walk_.sequence, walk_.head, i, j, rates_[size(i * columns_ + j)]);
  }

 private:
  static std::size_t size(index i) { return static_cast<std::size_t>(i); }
  T* kept(index b) const { return kept_.data() + b * rows_ * columns_; }
  template <class Number, class Columns>
  Number* at(Number* state, index i, Columns columns) const {
    return state + i * columns_ + columns.first;
  }
  walk block(index b) const { return walk_.part(b * most_tokens, most_tokens); }

  partial_lanes<V::width> vector_at(index j) const {
    return {j, static_cast<int>(std::min(width, last_ - j))};
  }
  template <class Body>
  void for_each_vector(Body const& body) const {
    for (index i = 0; i < rows_; ++i)
      for (index j = 0; j < last_; j += width) body(i, vector_at(j));
  }
  template <class Body>
  void for_each_strip(Body const& body) const {
    constexpr int R = vectors_of_strip;
    index j = 0;
    for (; j + R * width <= last_; j += R * width) {
      lanes<V::width> columns[R];
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA { columns[r].first = j + r * width; });
      body(columns);
    }
    for (; j < last_; j += width) {
      partial_lanes<V::width> const columns[] = {vector_at(j)};
      body(columns);
    }
  }

  // Only columns that exist enter sums: padding lanes may hold NaN after a reset.
  WANE_HOST_INLINE static V present(lanes<V::width>, V x) { return x; }
  WANE_HOST_INLINE static V present(partial_lanes<V::width> columns, V x) {
    for (int l = columns.count; l < V::width; ++l) x.v[l] = T(0);
    return x;
  }

  template <int R, class Columns>
  [[gnu::noinline]] void strip(index b, Columns const (&columns)[R]) {
    // A copy that no store can change: its strides stay in registers.
    Op const op = op_;
    walk const w = block(b);
    strip_decays<R, V, Op, Columns> const decays(op, w.head, columns, rows_);
    replay(op, w, columns, decays, kept(b));
    // The decays of the first token after the block, or 1 after the last block.
    Decay* const behind = decays_.data() + w.count * rows_ * R;
    for (index n = 0; n < rows_ * R; ++n) never_fade(behind[n]);
    if (b + 1 < blocks_) {
      Token const x = op.at(walk_.token((b + 1) * most_tokens));
      auto const seen = in_columns(x, columns, std::make_integer_sequence<int, R>{});
      for (index i = 0; i < rows_; ++i)
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
          behind[i * R + r] = widen<V>(decays.at(seen[r], i, r, columns[r]));
        });
    }
    bring_back(op, w, columns, decays);
    if (b == 0 && w.count > 0)
      for (index i = 0; i < rows_; ++i)
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
          T* const g = at(cotangent_.data(), i, columns[r]);
          carried(decays_[size(i * R + r)], V::load(g), V(T(0))).store(g);
        });
  }

  // Runs the block again and computes all that needs its states, which are not kept: the
  // derivatives by decays, and the gradients of queries.
  template <int R, class Columns>
  WANE_HOST_INLINE void replay(Op const& op, walk const& part, Columns const (&columns)[R],
                               strip_decays<R, V, Op, Columns> const& decays, T const* before) {
    sequence_view<Out const> const output_gradient = output_gradient_;
    index const rows = rows_;
    V state[rows_of_strip][R];
    for (index i = 0; i < rows; ++i)
      unroll<R>([&](auto r)
                    WANE_INLINE_LAMBDA { state[i][r] = V::load(at(before, i, columns[r])); });
    Decay* decay = decays_.data();
    V* left = left_.data();
    for (index k = 0; k < part.count; ++k) {
      auto const where = part.token(k);
      Token const x = op.at(where);
      auto const seen = in_columns(x, columns, std::make_integer_sequence<int, R>{});
      V value[R], dy[R];
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        value[r] = seen[r].value(columns[r]);
        dy[r] = convert<T>(output_gradient.read(where, columns[r]));
      });
      row_gradient<V>* const sums = sums_[size(k)].rows.data();
      for (index i = 0; i < rows; ++i, decay += R, left += R) {
        V key, query = V(T(0));
        if constexpr (has_key<Token>) key = V(x.key(i));
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
          V b = value[r];
          if constexpr (has_key<Token>) b = multiply(key, b);
          V const s = state[i][r];
          Decay const w = widen<V>(decays.at(seen[r], i, r, columns[r]));
          decay[r] = w;
          left[r] = decay_derivative(w, s);
          state[i][r] = carried(w, s, b);
          V const read = read_from<Token>(w, s, state[i][r]);
          query = present(columns[r], multiply_add(read, dy[r], query));
        });
        if constexpr (has_query<Token>) sums[i].query += query;
      }
    }
  }

  // Runs the transposed recurrence, from the last token of the block to the first.
  template <int R, class Columns>
  WANE_HOST_INLINE void bring_back(Op const& op, walk const& w, Columns const (&columns)[R],
                                   strip_decays<R, V, Op, Columns> const& decays) {
    sequence_view<Out const> const output_gradient = output_gradient_;
    Gradients const gradients = gradients_;
    index const rows = rows_;
    V cotangent[rows_of_strip][R], of_decay[R][rows_of_strip];
    V of_rate[sums_rates ? rows_of_strip : 1][R];
    for (index i = 0; i < rows; ++i)
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        cotangent[i][r] = V::load(at(cotangent_.data(), i, columns[r]));
        if constexpr (sums_rates) of_rate[i][r] = V(T(0));
      });
    for (index k = w.count - 1; k >= 0; --k) {
      auto const where = w.token(k);
      Token const x = op.at(where);
      auto const seen = in_columns(x, columns, std::make_integer_sequence<int, R>{});
      head_gradients<V>& sums = sums_[size(k)];
      V value[R], dy[R], of_value[R], step[R], of_step[R];
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        value[r] = seen[r].value(columns[r]);
        dy[r] = convert<T>(output_gradient.read(where, columns[r]));
        of_value[r] = of_step[r] = V(T(0));
        if constexpr (in_rates) step[r] = seen[r].step(columns[r]);
        if constexpr (has_direct<Token>) {
          of_value[r] = multiply(V(x.direct()), dy[r]);
          sums.whole.direct += present(columns[r], multiply(value[r], dy[r]));
        }
      });
      Decay const* later = decays_.data() + (k + 1) * rows * R;
      V const* left = left_.data() + k * rows * R;
      for (index i = 0; i < rows; ++i, later += R, left += R) {
        V key, query, of_key = V(T(0));
        if constexpr (has_key<Token>) key = V(x.key(i));
        if constexpr (has_query<Token>) query = V(x.query(i));
        unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
          V arriving = dy[r];
          if constexpr (has_query<Token>) arriving = multiply(query, arriving);
          V const own = strictly_causal<Token> ? V(T(0)) : arriving;
          V const g = carried(later[r], cotangent[i][r], own);
          cotangent[i][r] = strictly_causal<Token> ? g + arriving : g;
          V const by_decay = of_decay[r][i] = multiply(left[r], cotangent[i][r]);
          if constexpr (has_key<Token>)
            of_value[r] = multiply_add(key, g, of_value[r]);
          else
            of_value[r] = of_value[r] + g;
          of_key = present(columns[r], multiply_add(value[r], g, of_key));
          if constexpr (in_rates) of_step[r] = by_rate(decays.rate(i, r), by_decay, of_step[r]);
          if constexpr (sums_rates) of_rate[i][r] = multiply_add(step[r], by_decay, of_rate[i][r]);
        });
        if constexpr (has_key<Token>) sums.rows[size(i)].key += of_key;
      }
      auto const sink = sink_at(gradients, op, where);
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        if constexpr (takes_columns<Sink, Columns, V>) sink.column(columns[r], of_value[r]);
        if constexpr (takes_all_of_columns<Sink, Columns, V>)
          sink.all_of_column(
              columns[r], column_gradients<V>{rows, of_value[r], has_skip<Token> ? dy[r] : V(T(0)),
                                              of_step[r], of_decay[r]});
        if constexpr (sums_decays<Sink>)
          for (index i = 0; i < rows; ++i)
            sums.rows[size(i)].decay += present(columns[r], of_decay[r][i]);
      });
    }
    for (index i = 0; i < rows; ++i)
      unroll<R>([&](auto r) WANE_INLINE_LAMBDA {
        cotangent[i][r].store(at(cotangent_.data(), i, columns[r]));
        if constexpr (sums_rates) add_lanes(at(rates_.data(), i, columns[r]), of_rate[i][r]);
      });
  }

  Op const& op_;
  sequence_view<Out const> const& output_gradient_;
  Gradients const& gradients_;
  walk const walk_;
  index rows_, last_, columns_, blocks_;
  aligned_numbers<T> kept_, cotangent_;
  std::vector<Decay> decays_;
  std::vector<V> left_;
  std::vector<wider<T>> rates_;
  std::vector<head_gradients<V>> sums_;
};

// Preconditions: columns are neighbours in all tensors, and there are at most rows_of_strip rows.
template <has_element_adjoint Op, class Out, class Gradients, class State>
void adjoint_elements(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
                      adjoint_options<State> const& options) {
  recurrence_shape const shape = op.shape();
  index const walks = walks_of(shape, options);
  for_each_task(walks, threads_to_use(options.threads), [&](index task) {
    walk const w = walk_of(task, shape, options, options.initial.positions);
    element_adjoint<Op, Out, Gradients>(op, dy, gradients, w)(options);
  });
}

}  // namespace wane::impl
