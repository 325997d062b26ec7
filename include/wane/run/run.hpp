// run and step carry out an operator on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/runners.hpp"
#include "wane/run/shared/positions.hpp"

namespace wane::impl {

// The public functions hand their arguments on by reference: to copy a view whose numbers have just
// been stored takes as long as ten small instructions.
template <class Op, class Out, class State>
void run_checked(Op const& op, sequence_view<Out> const& output,
                 run_options<State> const& options) {
  check_run(op, output, options);
  run_by_table(op, output, options);
  count_tokens(op.shape(), options);
}

template <class Op, class Out, class State>
void step_checked(Op const& op, sequence_view<Out> const& output, state_view<State> const& state,
                  step_options const& options) {
  recurrence_shape const shape = checked_shape(op);
  check("output", output, output_shape_of(op));
  require(state.present(), "state has no data; step needs a state to update");
  check_sequences({}, options.lengths, shape.batch, shape.time);
  check_state("state", state, shape.batch, shape);
  check_positions("state", op, state);
  check_positions_left("state", state.positions, largest_position(op), shape.time, {},
                       options.lengths, shape.batch);
  walk_options const ways{.lengths = options.lengths};
  // A number costs 2 to 12 times what it costs in a run.
  int const threads = threads_for(8 * numbers_advanced(shape), options.threads);
  for_each_task(shape.batch * shape.heads, threads, [&](index i) {
    walk const w = walk_of(i, shape, ways, state.positions);
    step_by_table(op, w, output, state_of(state, w.sequence, w.head));
  });
  if (state.positions)
    for (index n = 0; n < shape.batch; ++n)
      state.positions[n] += tokens_of(n, shape.time, {}, options.lengths).end;
}

}  // namespace wane::impl

namespace wane {

//   run(op, output, run_options<float>{.initial = state, .final = state});
//
// Runs `op` over all its tokens; output [B, T, H, columns] (output_shape_of) receives y. The form
// of the operator and its shape choose the order of the work; step gives the same values.
// The output may lie in the memory of a per-token, per-column input of the operator with the same
// type and strides; otherwise inputs and outputs do not overlap.
// Throws wane::error, before anything is written, when a shape does not fit. Where memory runs out
// (std::bad_alloc), or a token of `op` throws, outputs and the values of final and kept states may
// be written in part. Positions, and an initial state in memory of its own, stay as they were.
template <class Op, class Out = output_type<Op>, class State = accumulate_type<Op>>
WANE_HOST_INLINE void run(Op const& op, sequence_view<Out> output,
                          run_options<State> const& options = {}) {
  static_assert(is_complex<Out> || !is_complex<output_type<Op>>,
                "wane::run: the outputs are complex; a view of real numbers cannot take them");
  static_assert(diagonal_recurrence<Op>,
                "wane::run: this type is no recurrence; it needs shape() and at(place), which "
                "gives a token with value(j), or shape(), a member type accumulate and "
                "advance(place, state, write); see wane/core/recurrence/diagonal_recurrence.hpp");
  static_assert(!std::is_const_v<Out>,
                "wane::run: the output is a view of constants; it must be writable");
  impl::run_checked(op, output, options);
}

//   step(op, output, state);  // of one token, in a stream
//
// Takes the tokens of `op` into `state`, [B, H, rows, columns], and advances its positions; output
// [B, T, H, columns] receives y. Allocates nothing, but for pairs, levels and memories that are
// led with over 2048 outputs or leads a head, and for scratch memory of a thread that steps the
// first time. Throws wane::error, before anything is written, when a shape does not fit. Where
// memory runs out (std::bad_alloc), or a token of `op` throws, the values of the state are lost.
template <class Op, class Out = output_type<Op>, class State = accumulate_type<Op>>
WANE_HOST_INLINE void step(Op const& op, sequence_view<Out> output, state_view<State> state,
                           step_options const& options = {}) {
  static_assert(is_complex<Out> || !is_complex<output_type<Op>>,
                "wane::step: the outputs are complex; a view of real numbers cannot take them");
  static_assert(diagonal_recurrence<Op>,
                "wane::step: this type is no recurrence; it needs shape() and at(place), which "
                "gives a token with value(j), or shape(), a member type accumulate and "
                "advance(place, state, write); see wane/core/recurrence/diagonal_recurrence.hpp");
  static_assert(!std::is_const_v<Out>,
                "wane::step: the output is a view of constants; it must be writable");
  impl::step_checked(op, output, state, options);
}

template <class Op, class Out = output_type<Op>, class State = accumulate_type<Op>>
WANE_HOST_INLINE void step(Op const& op, sequence_view<Out> output, recurrent_state<State>& state,
                           step_options const& options = {}) {
  step(op, output, state_view<State>(state), options);
}

}  // namespace wane
