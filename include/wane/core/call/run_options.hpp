// run_options and step_options: the options of a call of run and of step.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "wane/core/recurrence/poles.hpp"
#include "wane/core/state/state.hpp"
#include "wane/core/state/walk.hpp"

namespace wane {

// The state to keep after `tokens` tokens of every sequence, in the order of the run.
template <class State>
struct kept_state {
  index tokens;
  state_view<State> state;
};

// Every field may be left out. State is the precision of the carried state.
template <class State>
struct run_options {
  // The state before the first token; zero when absent. Its positions are the tokens seen so far.
  state_view<State const> initial = {};
  // Receives the state after the last token. May be the same memory as `initial`.
  state_view<State> final = {};
  // States on the way, which another run can begin with (a cache of prefixes); their tokens must
  // not fall. A sequence that ends earlier gives its last state. The run is then that of the pieces
  // between them, one after the other.
  std::span<kept_state<State> const> keep = {};
  // Sequences of different lengths in one row; then the states are [N, H, rows, columns].
  packed_sequences packed = {};
  // Sequences of different lengths in a padded batch, one entry a row: row b holds lengths[b]
  // tokens and then padding, which is not read, and whose outputs are not written. Final states,
  // and time in reverse, are those of the last token that is there.
  std::span<index const> lengths = {};
  // reverse: time runs from the last token to the first.
  wane::direction direction = direction::forward;
  // 0: OpenMP's default; one inside a parallel region. The result is the same bits for any number.
  int threads = 0;
  // Lets threads also share one sequence, cut in time, where a channelwise recurrence in float or
  // double has fewer sequences and heads than threads and tokens enough; elsewhere it changes
  // nothing. The result then depends on the number of threads, within the rounding of a float state
  // (docs/numerics.md) of the result of one.
  bool threads_over_time = false;
};

// The same for step.
struct step_options {
  // As in run_options: of one token each, 1 says that a sequence takes it and 0 that it waits.
  std::span<index const> lengths = {};
};

}  // namespace wane

namespace wane::impl {

// How many states a run has: one a sequence of the batch, or one a packed sequence.
inline index sequences_of(recurrence_shape const& shape, packed_sequences const& packed) {
  return packed.present() ? packed.count() : shape.batch;
}

}  // namespace wane::impl
