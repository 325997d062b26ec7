// count_tokens: the positions of the states that a run gives.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/run_options.hpp"

namespace wane::impl {

// The positions of the states that a run gives.
template <class State>
void count_tokens(recurrence_shape const& shape, run_options<State> const& options) {
  state_box const box = box_of(shape, options);
  for (index n = 0; n < box.sequences && box.heads > 0; ++n) {
    walk const w = walk_of(n * box.heads, shape, options, options.initial.positions);
    auto const count = [&](state_view<State> const& state, index seen) {
      if (state.positions) state.positions[w.sequence] = w.position - 1 + seen;
    };
    for (auto const& kept : options.keep) count(kept.state, std::min(kept.tokens, w.count));
    count(options.final, w.count);
  }
}

}  // namespace wane::impl
