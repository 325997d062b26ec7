// advance: one token of a recurrence, as it is defined; every runner must match it.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/denormals.hpp"
#include "wane/core/recurrence/diagonal_recurrence.hpp"
#include "wane/core/state/state.hpp"

namespace wane::impl {

// The most columns that are advanced together. The terms of a row, above all its decay, are
// computed once for all of them.
inline constexpr int columns_together = 128;

// Advances columns [first, first + count) of the state by one token; count <= columns_together.
// `to` receives their outputs. The sums are local arrays, which the state cannot overlap.
template <class V, class Token, class State>
WANE_HOST_DEVICE void advance_columns(Token const& x, view<State, 2> const& state, index first,
                                      int count, V* to) {
  V value[columns_together], erased[columns_together] = {}, y[columns_together] = {};
  for (int n = 0; n < count; ++n) value[n] = V(x.value(first + n));
  if constexpr (has_direct<Token>) {
    V const direct = V(x.direct());
    for (int n = 0; n < count; ++n) y[n] = multiply(direct, value[n]);
  }
  if constexpr (has_skip<Token>)
    for (int n = 0; n < count; ++n) y[n] = y[n] + V(x.skip(first + n));
  index const rows = state.extent[0], stride = state.stride[1];
  if constexpr (has_erase<Token>) {
    for (index i = 0; i < rows; ++i) {
      V const read = V(x.erase_read(i));
      if (read == V(0)) continue;  // a row that is not read may hold NaN
      State const* const row = &state(i, first);
      for (int n = 0; n < count; ++n)
        erased[n] = multiply_add(read, static_cast<V>(row[n * stride]), erased[n]);
    }
    if constexpr (is_delta_rule<Token>)
      for (int n = 0; n < count; ++n) value[n] = value[n] - erased[n];
  }
  for (index i = 0; i < rows; ++i) {
    State* const row = &state(i, first);
    auto const update = [&](auto const& decay_at) WANE_INLINE_LAMBDA {
      [[maybe_unused]] V key, erase_write, query;
      if constexpr (has_key<Token>) key = V(x.key(i));
      if constexpr (has_erase_write<Token>) erase_write = V(x.erase_write(i));
      if constexpr (has_query<Token>) query = V(x.query(i));
      for (int n = 0; n < count; ++n) {
        V b = value[n];
        if constexpr (has_key<Token>) b = multiply(key, b);
        if constexpr (has_erase_write<Token>) b = multiply_add(erase_write, erased[n], b);
        State& s = row[n * stride];
        auto const w = decay_at(n);
        V const before = static_cast<V>(s);
        s = static_cast<State>(carried(w, before, b));
        V const read = read_from<Token>(w, before, static_cast<V>(s));
        if constexpr (has_query<Token>)
          y[n] = multiply_add(query, read, y[n]);
        else if constexpr (has_element_query<Token>)
          y[n] = multiply_add(V(x.query(i, first + n)), read, y[n]);
        else
          y[n] = y[n] + read;
      }
    };
    if constexpr (decays_by_element<Token>) {
      update([&](int n) { return decay_of(x, i, first + n); });
    } else {
      auto const w = decay_of(x, i, first);
      update([&](int) { return w; });
    }
  }
  for (int n = 0; n < count; ++n) to[n] = y[n];
}

// Advances the state [rows, columns] in place by one token; write(j, y) receives output j. A
// denominator is computed before the outputs that it divides.
template <affine_recurrence Op, class State, class Write>
WANE_HOST_DEVICE void advance(Op const& op, place<> at, view<State, 2> state, Write const& write) {
  using V = accumulate_type<Op>;
  auto const x = op.at(at);
  auto const take = [&](index begin, index end, auto const& receive) {
    for (index j = begin; j < end; j += columns_together) {
      int const count = static_cast<int>(at_most(index{columns_together}, end - j));
      V y[columns_together];
      advance_columns<V>(x, state, j, count, y);
      for (int n = 0; n < count; ++n) receive(j + n, y[n]);
    }
  };
  index const columns = state.extent[1];
  if constexpr (normalised_recurrence<Op>) {
    V divisor;
    take(columns - 1, columns, [&](index, V y) { divisor = divisor_of(op, at, y); });
    take(0, columns - 1, [&](index j, V y) { write(j, V(y / divisor)); });
  } else {
    take(0, columns, write);
  }
}
template <stepwise_recurrence Op, class State, class Write>
void advance(Op const& op, place<> at, view<State, 2> state, Write const& write) {
  op.advance(at, state, write);
}

// One token of a penalised memory, and of a pair: defined in penalty/step.hpp and pairs/step.hpp.
template <penalised_memory Op, class State, class Write>
void advance(Op const& op, place<> at, view<State, 2> state, Write const& write);
template <paired_recurrence Op, class State, class Write>
void advance(Op const& op, place<> at, view<State, 2> state, Write const& write);

// The rows x columns of one sequence and head.
template <class T>
view<T, 2> state_of(state_view<T> const& state, index sequence, index head) {
  auto const& v = state.values;
  return {v.data + sequence * v.stride[0] + head * v.stride[1],
          {v.extent[2], v.extent[3]},
          {v.stride[2], v.stride[3]}};
}

}  // namespace wane::impl
