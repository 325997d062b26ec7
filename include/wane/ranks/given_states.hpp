// given_states: what the sequences of a rank begin with, kept for a call that writes over it.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "wane/ranks/call.hpp"

namespace wane::impl {

// Copies the states of sequence n.
template <class State>
void copy_sequence(view<State const, 4> const& from, view<State, 4> const& to, index n) {
  for (index h = 0; h < to.extent[1]; ++h)
    for (index i = 0; i < to.extent[2]; ++i)
      for (index j = 0; j < to.extent[3]; ++j) to(n, h, i, j) = from(n, h, i, j);
}

// Copies states into `memory`.
template <class State>
view<State const, 4> copied(view<State const, 4> const& from,
                            std::optional<recurrent_state<State>>& memory) {
  auto const& e = from.extent;
  view<State, 4> const own = state_view<State>(memory.emplace(e[0], e[1], e[2], e[3])).values;
  for (index n = 0; n < e[0]; ++n) copy_sequence(from, own, n);
  return own;
}

// The initial states of a run, with positions of their own, because the final states may lie in the
// same memory and have their positions written part by part.
template <class State>
struct given_states {
  run_options<State> options;
  std::vector<index> positions;
  std::optional<recurrent_state<State>> kept;

  // keeps: whether the run may have to be repeated.
  given_states(run_options<State> const& from, agreed_call const& call, bool keeps)
      : options(from), positions(call.positions) {
    for (index n = 0; n < call.sequences; ++n)
      if (!call.links.from.holds(n) && from.initial.positions)
        positions[static_cast<std::size_t>(n)] = from.initial.positions[n];
    if (keeps && from.initial.present() && from.initial.values.data == from.final.values.data)
      options.initial.values = copied(from.initial.values, kept);
    options.initial.positions = positions.data();
  }
  given_states(given_states const&) = delete;
};

}  // namespace wane::impl
