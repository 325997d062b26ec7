// run_options and step_options: the options of a call of run and of step.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "wane/core/recurrence/poles.hpp"
#include "wane/core/state/state.hpp"
#include "wane/core/state/walk.hpp"

namespace wane {

// `state` receives the state after the first `tokens` tokens of every sequence, in the order of the
// run.
template <class State>
struct kept_state {
  index tokens;
  state_view<State> state;
};

//   run(op, output, run_options<float>{.initial = state, .final = state});
//
// Every field may be left out. State is the precision of the carried state.
template <class State>
struct run_options {
  // The state before the first token; zero when absent. Its positions are the tokens seen so far.
  state_view<State const> initial = {};
  // Receives the state after the last token. May be the same memory as `initial`.
  state_view<State> final = {};
  // States to keep on the way, for example as a cache of prefixes: another run can begin with any
  // of them. Their tokens must not decrease. A sequence that ends earlier gives its last state. The
  // values are those of separate runs over the pieces between the kept states.
  std::span<kept_state<State> const> keep = {};
  // Sequences of different lengths, end to end in one row. States are [N, H, rows, columns], where
  // N is the number of sequences.
  packed_sequences packed = {};
  // Sequences of different lengths in a padded batch: row b holds lengths[b] tokens and then
  // padding. Padding is not read, and its outputs are not written. The final state is the state
  // after token lengths[b] - 1; in reverse, time starts at that token.
  impl::lasting_indices lengths = {};
  // reverse: time runs from the last token to the first.
  wane::direction direction = direction::forward;
  // 0: OpenMP's default, or 1 inside a parallel region. A short call uses fewer. Any number gives
  // the same bits.
  int threads = 0;
  // Lets threads share one sequence, cut in time. It has an effect on long channelwise recurrences
  // in float or double that have fewer sequences times heads than threads. The result then depends
  // on the number of threads. It differs from the result of one thread by the rounding of a float
  // state (docs/numerics.md).
  bool threads_over_time = false;
  // The states to advance; all when it is left out. Columns can be left out where they do not
  // depend on each other: not for means, pairs, penalised memories, substeps, levels, memories that
  // are led and recurrences with their own step.
  state_box box = {};
};

//   step(op, output, state, step_options{.lengths = takes_token});
struct step_options {
  // As in run_options. With one token a sequence: 1 where the sequence takes it, 0 where it waits.
  impl::lasting_indices lengths = {};
  // Threads share the sequences and heads. One, because servers step on threads of their own; 0:
  // OpenMP's default. A short call uses fewer.
  int threads = 1;
};

}  // namespace wane

namespace wane::impl {

// Numbers of the states that a call advances, once for each token.
inline double numbers_advanced(recurrence_shape const& shape) {
  return static_cast<double>(shape.batch * shape.time * shape.heads) *
         static_cast<double>(shape.rows * shape.columns);
}

}  // namespace wane::impl
