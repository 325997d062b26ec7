// Rows of a carried state, read and written for a group of columns.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/decay.hpp"
#include "wane/core/state/state.hpp"
#include "wane/core/state/walk.hpp"
#include "wane/run/shared/column_group.hpp"

namespace wane::impl {

// Row i of some columns of a walk's state; zero where the state is absent.
template <class V, class State, class Columns>
V load_state(state_view<State> const& state, walk const& w, index i, Columns columns) {
  using T = typename scalar_of_value<V>::type;
  V x = V(T(0));
  if (!state.present()) return x;
  if constexpr (std::is_same_v<Columns, index>)
    x = static_cast<T>(state.values(w.sequence, w.head, i, columns));
  else
    for (int l = 0; l < lane_count(columns); ++l)
      x.v[l] = static_cast<T>(state.values(w.sequence, w.head, i, columns.first + l));
  return x;
}
template <class V, class State, class Columns>
void save_state(state_view<State> const& state, walk const& w, index i, Columns columns, V x) {
  for_each_column(columns, [&](index j, int l) {
    if constexpr (is_simd<V>)
      state.values(w.sequence, w.head, i, j) = static_cast<State>(x[l]);
    else
      state.values(w.sequence, w.head, i, j) = static_cast<State>(x);
  });
}

}  // namespace wane::impl
