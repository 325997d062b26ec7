// run and step: the public door to the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/channels/run.hpp"
#include "wane/run/elements/run.hpp"
#include "wane/run/in_order/advance.hpp"
#include "wane/run/in_order/run.hpp"
#include "wane/run/lags/run.hpp"
#include "wane/run/panels/run.hpp"
#include "wane/run/penalty/run.hpp"
#include "wane/run/poles/coefficients.hpp"
#include "wane/run/poles/run.hpp"

namespace wane {

template <diagonal_recurrence Op, class Out, class State>
void run_in_order(Op const& op, sequence_view<Out> const& output,
                  run_options<State> const& options) {
  index const columns = recurrence_shape(op.shape()).columns;
  for_each_piece(op, options, columns, threads_to_use(options.threads),
                 [&](walk const& w, index, index, auto const& state) {
                   walk_in_order(
                       op, w, output, [&](index i, index j) { return state.load(i, j); },
                       [&](index i, index j, auto s) { state.save(i, j, s); });
                 });
}

template <diagonal_recurrence Op, class Out, class State>
void run_walks(Op const& op, sequence_view<Out> const& output, run_options<State> const& options) {
  if constexpr (channelwise<Op>)
    run_channels(op, output, options);
  else if constexpr (penalised_memory<Op>)
    run_penalised(op, output, options);
  else if constexpr (pole_bank<Op> && !is_complex<Out>)
    run_poles(op, output, options);
  else if constexpr (node_coefficients<Op> && !is_complex<Out>)
    run_coefficients<transform_side::past>(op, output, options);
  else if constexpr (runs_in_panels<Op>) {
    if constexpr (has_lags<Op>)
      if (lags_pay(op, options) && run_lags(op, output, options)) return;
    if constexpr (time_invariant<Op>)
      run_in_order(op, output, options);
    else
      run_affine(op, output, options);
  } else if constexpr (runs_by_elements<Op>) {
    if (!run_elements(op, output, options)) run_in_order(op, output, options);
  } else
    run_in_order(op, output, options);
}

// Throws wane::error where what a run takes does not fit; returns the number of sequences.
template <class Op, class Out, class State>
index check_run(Op const& op, sequence_view<Out> const& output, run_options<State> const& options) {
  recurrence_shape const shape = checked_shape(op);
  check("output", output, output_shape_of(op));
  check(options.packed, options.lengths, shape.batch, shape.time);
  index const sequences = sequences_of(shape, options.packed);
  check("initial", options.initial, sequences, shape);
  check("final", options.final, sequences, shape);
  check(options.keep, sequences, shape);
  return sequences;
}

// The positions of the states that a run gives.
template <class State>
void count_tokens(recurrence_shape const& shape, run_options<State> const& options) {
  for (index n = 0; n < sequences_of(shape, options.packed); ++n) {
    walk const w = walk_of(n * shape.heads, shape, options, options.initial.positions);
    auto const count = [&](state_view<State> const& state, index seen) {
      if (state.positions) state.positions[n] = w.position - 1 + seen;
    };
    for (auto const& kept : options.keep) count(kept.state, std::min(kept.tokens, w.count));
    count(options.final, w.count);
  }
}

// Runs `op` over all its tokens: output [B, T, H, columns] (output_shape_of) receives y. The form
// of the operator and its shape choose the order of the work; step gives the same values.
// The output may be the memory of the operator's own per-token, per-column input of the same type
// and strides; otherwise inputs and outputs do not overlap.
// Throws wane::error, before anything is written, when a shape does not fit.
template <class Op, class Out, class State = accumulate_type<Op>>
void run(Op const& op, sequence_view<Out> output, run_options<State> const& options = {}) {
  static_assert(is_complex<Out> || !is_complex<output_type<Op>>,
                "wane::run: the outputs are complex; a view of real numbers cannot take them");
  static_assert(diagonal_recurrence<Op>,
                "wane::run: this type is no recurrence; it needs shape() "
                "and at(place), which gives a token with value(j), or shape() and its own "
                "advance(place, state, write); see wane/core/recurrence/recurrence.hpp");
  static_assert(!std::is_const_v<Out>,
                "wane::run: the output is a view of constants; it must be writable");
  check_run(op, output, options);
  run_walks(op, output, options);
  count_tokens(op.shape(), options);
}

// The tokens of one walk into a state, without allocating.
template <class Op, class Out, class State>
void step_walk(Op const& op, walk const& w, sequence_view<Out> const& output,
               view<State, 2> state) {
  using V = accumulate_type<Op>;
  if constexpr (channelwise<Op>) {
    constexpr index at_once = 256;
    bool const in_lanes = (layout_of(op) & layout_of(output)).columns;
    store_by const how = in_lanes ? store_by::vector : store_by::number;
    index const columns = state.extent[1];
    if constexpr (std::is_same_v<State, V>)
      if (state.stride[1] == 1)
        return walk_columns(op, w, index{0}, columns, output, how, state.data);
    V carry[at_once];
    for (index first = 0; first < columns; first += at_once) {
      index const last = std::min(first + at_once, columns);
      for (index j = first; j < last; ++j) carry[j - first] = static_cast<V>(state(0, j));
      walk_columns(op, w, first, last, output, how, carry);
      for (index j = first; j < last; ++j) state(0, j) = static_cast<State>(carry[j - first]);
    }
  } else {
    if constexpr (runs_in_panels<Op> && std::is_same_v<State, V>) {
      token_panel<Op, Out> const panel(op, output);
      if (panel.takes(state)) {
        for (index k = 0; k < w.count; ++k) panel(op, w.token(k), state);
        return;
      }
    }
    if constexpr (runs_by_elements<Op> && std::is_same_v<State, V>) {
      element_runner<Op, Out> const advance(op, output);
      if (state.stride[1] == 1 && advance.usable()) return advance(w, 0, state.extent[1], state);
    }
    for (index k = 0; k < w.count; ++k) {
      auto const at = w.token(k);
      auto const write = [&](index j, V y) { output.write(at, j, y); };
      if constexpr (pole_bank<Op> && std::is_same_v<State, V>)
        advance_poles(op, at, state, write);
      else
        advance(op, at, state, write);
    }
  }
}

// Takes the tokens of `op` (most often one) into `state`, [B, H, rows, columns], and advances its
// positions; output [B, T, H, columns]. Allocates nothing: made for streaming.
// Throws wane::error, before anything is written, when a shape does not fit.
template <class Op, class Out, class State>
void step(Op const& op, sequence_view<Out> output, state_view<State> state,
          step_options const& options = {}) {
  static_assert(is_complex<Out> || !is_complex<output_type<Op>>,
                "wane::step: the outputs are complex; a view of real numbers cannot take them");
  static_assert(diagonal_recurrence<Op>,
                "wane::step: this type is no recurrence; it needs shape() "
                "and at(place), which gives a token with value(j), or shape() and its own "
                "advance(place, state, write); see wane/core/recurrence/recurrence.hpp");
  recurrence_shape const shape = checked_shape(op);
  check("output", output, output_shape_of(op));
  require(state.present(), "state has no data; step needs a state to update");
  check({}, options.lengths, shape.batch, shape.time);
  check("state", state, shape.batch, shape);
  run_options<State> const ways{.lengths = options.lengths};
  flush_denormals const guard;
  for (index i = 0; i < shape.batch * shape.heads; ++i) {
    walk const w = walk_of(i, shape, ways, state.positions);
    step_walk(op, w, output, state_of(state, w.sequence, w.head));
  }
  if (state.positions)
    for (index n = 0; n < shape.batch; ++n)
      state.positions[n] += tokens_of(n, shape.time, {}, options.lengths).end;
}

template <class Op, class Out, class State>
void step(Op const& op, sequence_view<Out> output, recurrent_state<State>& state,
          step_options const& options = {}) {
  step(op, output, state_view<State>(state), options);
}

}  // namespace wane
