// One token: the meaning of a recurrence, which every other runner must match.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/state.hpp"
#include "wane/run/denormals.hpp"

namespace wane {

// y_j = sum_i query(i) S_ij + direct() value(j) of a state that has just been written.
template <class Token, class V, class Element>
WANE_HOST_DEVICE V read_out(Token const& x, index rows, index j, Element const& element) {
  V y = V(0);
  if constexpr (has_direct<Token>) y = multiply(V(x.direct()), V(x.value(j)));
  for (index i = 0; i < rows; ++i) {
    if constexpr (has_query<Token>)
      y = multiply_add(V(x.query(i)), V(element(i, j)), y);
    else
      y = y + V(element(i, j));
  }
  return y;
}

// One token for one head: `state` (rows x columns) goes from S_{t-1} to S_t, write(j, y_j) takes
// the output.
template <affine_recurrence Op, class State, class Write>
WANE_HOST_DEVICE void advance(Op const& op, place<> at, view<State, 2> state, Write const& write) {
  using V = accumulate_type<Op>;
  auto const x = op.at(at);
  using Token = std::remove_const_t<decltype(x)>;
  index const rows = state.extent[0], columns = state.extent[1];
  for (index j = 0; j < columns; ++j) {
    V erased = V(0);
    if constexpr (has_erase<Token>)
      for (index i = 0; i < rows; ++i)
        erased = multiply_add(V(x.erase_read(i)), static_cast<V>(state(i, j)), erased);
    for (index i = 0; i < rows; ++i) {
      V b = write_of(x, i, j);
      if constexpr (has_erase<Token>) b = multiply_add(V(x.erase_write(i)), erased, b);
      state(i, j) = static_cast<State>(carried(decay_of(x, i, j), static_cast<V>(state(i, j)), b));
    }
    write(j, read_out<Token, V>(x, rows, j, state));
  }
}
template <stepwise_recurrence Op, class State, class Write>
WANE_HOST_DEVICE void advance(Op const& op, place<> at, view<State, 2> state, Write const& write) {
  op.advance(at, state, write);
}

// The rows x columns of one sequence and head.
template <class T>
view<T, 2> state_of(state_view<T> const& state, index sequence, index head) {
  auto const& v = state.values;
  return {v.data + sequence * v.stride[0] + head * v.stride[1],
          {v.extent[2], v.extent[3]},
          {v.stride[2], v.stride[3]}};
}

}  // namespace wane
