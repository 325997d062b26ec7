// run for any recurrence, token by token; all other runners must agree with it.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/run/in_order/advance.hpp"
#include "wane/run/shared/pieces.hpp"

namespace wane::impl {

// Runs one walk on a copy of the state, and keeps what belongs to columns [first, last).
template <diagonal_recurrence Op, class Out, class State>
void walk_in_order(Op const& op, walk const& w, sequence_view<Out> const& output, index first,
                   index last, state_access<accumulate_type<Op>, State> const& access) {
  using V = accumulate_type<Op>;
  recurrence_shape const shape = op.shape();
  std::vector<V> held(static_cast<std::size_t>(shape.rows * shape.columns));
  view<V, 2> const state(held.data(), shape.rows, shape.columns);
  bool const all = last - first == shape.columns;
  access.load_rows(shape.rows, 0, shape.columns, held.data(), shape.columns);
  for (index k = 0; k < w.count; ++k) {
    auto const at = w.token(k);
    advance(op, at, state, [&](index j, V y) {
      if (all || (first <= j && j < last)) output.write(at, j, y);
    });
  }
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
  using V = accumulate_type<Op>;
  for (index k = 0; k < w.count; ++k) {
    auto const at = w.token(k);
    advance(op, at, state, [&](index j, V y) { output.write(at, j, y); });
  }
}

}  // namespace wane::impl
