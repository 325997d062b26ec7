// One token of a penalised memory: adds a direction to the penalty, then writes to S.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/decay.hpp"
#include "wane/run/in_order/advance.hpp"
#include "wane/run/penalty/factor_in_state.hpp"

namespace wane::impl {

// The decay of S at a token, beside that of M.
template <class Op>
auto memory_decay_of(Op const& op, place<> at) {
  if constexpr (fading_penalty<Op>)
    return decay_from_log(op.memory_log_decay(at));
  else
    return no_decay{};
}

// Updates the state by one token; write(j, y) receives output j.
template <bool Adjacent, class Op, class State, class Write>
void advance_parts(Op const& op, place<> at, view<State, 2> const& state, Write const& write) {
  using T = typename Op::accumulate;
  index const rows = state.extent[0], columns = op.output_columns();
  using part = state_part<State, Adjacent>;
  part const memory{state.data, rows, state.stride[0], state.stride[1]},
      factor{state.data + columns * state.stride[1], rows, state.stride[0], state.stride[1]};
  auto const x = op.terms_at(at);
  auto const direction = op.direction_at(at);

  T alpha[most_penalised_rows], u[most_penalised_rows], over(1);
  T const lambda = static_cast<T>(op.lambda(at.head));
  begin_factor(factor, lambda);
  if constexpr (fading_penalty<Op>) {
    State& held = state(0, columns + rows);
    penalty_left<T> left{static_cast<T>(held)};
    if (left.fades_too_far(op, at)) {
      renew_penalty(factor, left.log, lambda);
      left.log = T(0);
    }
    held = static_cast<State>(left.log);
    over = left.over();
  }
  bool const refreshed = op.refresh().comes_after(at.position);
  // Where u = k, M_t^-1 u = M_{t-1}^-1 u / (1 + u . M_{t-1}^-1 u) rounds less than M_t^-1.
  bool const own = op.penalises_keys() && !refreshed;
  if (own) {
    for (index i = 0; i < rows; ++i) alpha[i] = over * direction(i);
    T const by = over / (T(1) + solve_penalty(factor, alpha));
    for (index i = 0; i < rows; ++i) alpha[i] = by * alpha[i];
  }
  for (index i = 0; i < rows; ++i) u[i] = over * direction(i);
  add_direction(factor, u);
  if (refreshed) refresh_penalty(factor, static_cast<T>(op.refresh().amount));
  if (!own) {
    for (index i = 0; i < rows; ++i) alpha[i] = x.key(i);
    solve_penalty(factor, alpha);
    for (index i = 0; i < rows; ++i) alpha[i] = over * over * alpha[i];
  }
  row_sum<T> alpha_alpha, key_alpha;
  for (index i = 0; i < rows; ++i)
    alpha_alpha.add(alpha[i], alpha[i]), key_alpha.add(x.key(i), alpha[i]);
  T const by = write_factor<Op::rule>(alpha_alpha.total(), key_alpha.total());
  for (index i = 0; i < rows; ++i) alpha[i] = by * alpha[i];

  auto const decay = memory_decay_of(op, at);
  T erased(1);
  if constexpr (fading_penalty<Op>) erased = factor_of(decay);
  // A reset clears S whatever it holds, NaN included.
  auto const held = [&](index i, index j) {
    return erased == T(0) ? T(0) : static_cast<T>(memory(i, j));
  };
  auto const written = [&](T s, T a, T error) {
    if constexpr (fading_penalty<Op>)
      return carried(decay, s, a * error);
    else
      return multiply_add(a, error, s);
  };
  constexpr index together = 128;
  for (index first = 0; first < columns; first += together) {
    index const count = at_most(together, columns - first);
    T error[together], y[together] = {};
    for (index n = 0; n < count; ++n) error[n] = x.value(first + n);
    for (index i = 0; i < rows; ++i) {
      T const key = erased * x.key(i);
      for (index n = 0; n < count; ++n) error[n] = multiply_add(-key, held(i, first + n), error[n]);
    }
    for (index i = 0; i < rows; ++i) {
      T const query = x.query(i), a = alpha[i];
      for (index n = 0; n < count; ++n) {
        T const s = written(held(i, first + n), a, error[n]);
        memory(i, first + n) = static_cast<State>(s);
        y[n] = multiply_add(query, s, y[n]);
      }
    }
    for (index n = 0; n < count; ++n) write(first + n, y[n]);
  }
}

// One token: the state, [K, V + K] or more, is updated in place, and write(j, y) takes output j.
template <penalised_memory Op, class State, class Write>
void advance(Op const& op, place<> at, view<State, 2> state, Write const& write) {
  if (state.stride[1] == 1)
    advance_parts<true>(op, at, state, write);
  else
    advance_parts<false>(op, at, state, write);
}

}  // namespace wane::impl
