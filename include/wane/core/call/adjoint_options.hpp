// adjoint_options: the options of a call of adjoint.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/run_options.hpp"

namespace wane {

//   adjoint(op, output_gradient, gradients, adjoint_options<float>{.initial = state});
//
// Every field may be left out. The fields initial, packed, lengths, direction and threads have the
// same values as in the run. State is the precision of the carried state.
template <class State>
struct adjoint_options {
  state_view<State const> initial = {};
  // What run gave, [B, T, H, columns]. Where outputs are states (linear_recurrence, on a CPU), they
  // spare adjoint the run that finds the states again; other operators ignore them.
  sequence_view<State const> outputs = {};
  // dL/d(final state); zero when absent.
  state_view<State const> final_gradient = {};
  // Receives dL/d(initial state).
  state_view<State> initial_gradient = {};
  packed_sequences packed = {};
  // Output gradients of padding are not read. Gradients of its tokens are not written.
  impl::lasting_indices lengths = {};
  wane::direction direction = direction::forward;
  int threads = 0;
  // The states to go back through; all when it is left out. Heads and sequences can be left out
  // where no gradient is a sum over them, columns of channelwise recurrences alone.
  state_box box = {};
};

}  // namespace wane

namespace wane::impl {

// The options of a part of a pair; part(state) is its part of the pair's state.
template <class State>
adjoint_options<State> part_of(adjoint_options<State> options, auto const& part) {
  options.outputs = {};
  options.initial = part(options.initial), options.final_gradient = part(options.final_gradient);
  options.initial_gradient = part(options.initial_gradient);
  return with_all_columns(options);
}

// The options of the run that is differentiated, without its final and kept states.
template <class State>
run_options<State> run_of(adjoint_options<State> const& options) {
  return {.initial = options.initial,
          .packed = options.packed,
          .lengths = options.lengths,
          .direction = options.direction,
          .threads = options.threads,
          .box = options.box};
}

}  // namespace wane::impl
