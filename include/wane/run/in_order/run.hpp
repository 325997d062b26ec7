// run for any recurrence, token by token; all other runners must agree with it.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <vector>

#include "wane/run/in_order/advance.hpp"
#include "wane/run/shared/pieces.hpp"

namespace wane::impl {

// Writes the outputs of a token; if Cut, those in columns [first, last) alone. It holds the view,
// which no store can change, so that the place is found once. Lanes come from steps of an
// operator's own, whose columns are not cut.
template <class V, class Out, bool Cut = false>
struct output_columns {
  sequence_view<Out> output;
  index first, last;
  bool in_lanes = false;
  place<> at = {};

  explicit output_columns(sequence_view<Out> const& all, index from = 0, index to = 0)
      : output(all), first(from), last(to) {
    if constexpr (requires { layout_of(all); }) in_lanes = layout_of(all).columns;
  }

  output_columns of(place<> token) const {
    output_columns columns = *this;
    columns.at = token;
    return columns;
  }
  WANE_INLINE void operator()(index j, V const& y) const {
    if (!Cut || (first <= j && j < last)) output.write(at, j, y);
  }
  template <int W>
  WANE_HOST_INLINE void operator()(lanes<W> j, simd<V, W> y) const {
    if (in_lanes) return output.write(at, j, y);
    for (int l = 0; l < W; ++l) output.write(at, j.first + l, y[l]);
  }
};

// Prefetches what a token reads.
inline constexpr index tokens_ahead = 4;
template <class Op>
void prefetch_rows(Op const& op, place<> at) {
  if constexpr (knows_rows<Op>)
    op.each_row(at, [](auto const* row, index count) {
      for (index i = 0; i < count; i += 64 / sizeof *row) __builtin_prefetch(row + i);
    });
}

// Runs one walk on a copy of the state, and keeps what belongs to columns [first, last).
template <diagonal_recurrence Op, class Out, class State>
void walk_in_order(Op const& op, walk const& w, sequence_view<Out> const& output, index first,
                   index last, state_access<accumulate_type<Op>, State> const& access) {
  using V = accumulate_type<Op>;
  recurrence_shape const shape = op.shape();
  std::vector<V> held(static_cast<std::size_t>(shape.rows * shape.columns));
  view<V, 2> const state(held.data(), shape.rows, shape.columns);
  // Where no column is cut, outputs may have other columns than the state.
  bool const all = last - first == shape.columns;
  access.load_rows(shape.rows, 0, shape.columns, held.data(), shape.columns);
  auto const walk_to = [&](auto const& to) {
    for (index k = 0; k < w.count; ++k) {
      auto const at = w.token(k);
      if (k + tokens_ahead < w.count) prefetch_rows(op, w.token(k + tokens_ahead));
      advance(op, at, state, to.of(at));
    }
  };
  using cut = output_columns<V, Out, true>;
  if (!all)
    walk_to(cut(output, first, last));
  else if constexpr (stepwise_recurrence<Op>)
    walk_to(output_columns<V, Out>(output));
  else  // not compiled twice
    walk_to(cut(output, 0, std::numeric_limits<index>::max()));
  access.save_rows(shape.rows, first, last, held.data() + first, shape.columns);
}

template <diagonal_recurrence Op, class Out, class State>
void run_in_order(Op const& op, sequence_view<Out> const& output,
                  run_options<State> const& options) {
  index const columns = recurrence_shape(op.shape()).columns;
  for_each_piece(op, options, columns, threads_to_use(options.threads),
                 [&](walk const& w, index first, index last, auto const& state) {
                   walk_in_order(op, w, output, first, last, state);
                 });
}

// Advances a state of any strides by the tokens of one walk, without allocating.
template <diagonal_recurrence Op, class Out, class State>
void step_in_order(Op const& op, walk const& w, sequence_view<Out> const& output,
                   view<State, 2> const& state) {
  output_columns<accumulate_type<Op>, Out> const to(output);
  for (index k = 0; k < w.count; ++k) {
    auto const at = w.token(k);
    advance(op, at, state, to.of(at));
  }
}

}  // namespace wane::impl
