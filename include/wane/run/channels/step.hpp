// step for channelwise recurrences: advances a state in place by the tokens of a walk.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/channels/columns.hpp"

namespace wane::impl {

// Channels that are copied to the stack at a time, if they are not neighbours in the state or are
// of another type.
inline constexpr index channels_on_stack = 256;

template <channelwise Op, class Out, class State>
void step_channels(Op const& op, walk const& w, sequence_view<Out> const& output,
                   view<State, 2> const& state) {
  using T = accumulate_type<Op>;
  bool const in_lanes = (layout_of(op) & layout_of(output)).columns;
  store_by const how = in_lanes ? store_by::vector : store_by::number;
  index const columns = state.extent[1];
  if constexpr (std::is_same_v<State, T>)
    if (state.stride[1] == 1)
      return walk_columns(op, w, index{0}, columns, output, how, state.data);
  T carry[channels_on_stack];
  for (index first = 0; first < columns; first += channels_on_stack) {
    index const last = std::min(first + channels_on_stack, columns);
    for (index j = first; j < last; ++j) carry[j - first] = static_cast<T>(state(0, j));
    walk_columns(op, w, first, last, output, how, carry);
    for (index j = first; j < last; ++j) state(0, j) = static_cast<State>(carry[j - first]);
  }
}

}  // namespace wane::impl
