// adjoint_options: the options of a call of adjoint.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/run_options.hpp"

namespace wane {

// Every field may be left out; initial, packed, lengths, direction and threads are those of the
// run.
template <class State>
struct adjoint_options {
  state_view<State const> initial = {};
  // dL/d(final state), where the loss looks at it.
  state_view<State const> final_gradient = {};
  // Receives dL/d(initial state).
  state_view<State> initial_gradient = {};
  packed_sequences packed = {};
  // Output gradients of padding are not read, and the gradients of its tokens not written.
  std::span<index const> lengths = {};
  wane::direction direction = direction::forward;
  int threads = 0;
};

}  // namespace wane

namespace wane::impl {

// The options of the run that this adjoint belongs to, without its outputs.
template <class State>
run_options<State> run_of(adjoint_options<State> const& options) {
  return {.initial = options.initial,
          .packed = options.packed,
          .lengths = options.lengths,
          .direction = options.direction,
          .threads = options.threads};
}

}  // namespace wane::impl
