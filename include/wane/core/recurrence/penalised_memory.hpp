// Memories that write where an inverse penalty matrix points: VLA's rules, and a token of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "wane/core/numbers/decay.hpp"
#include "wane/core/recurrence/fading_penalty.hpp"
#include "wane/core/recurrence/row_lanes.hpp"

namespace wane {

// With A_t = M_t^-1, M_t = lambda I + sum_{s<=t} u_s u_s^T of penalty directions u, and unit keys
// k,
//   S_t = S_{t-1} + a_t (v_t - S_{t-1}^T k_t)^T,   y_t = S_t^T q_t,
// where the write direction a_t is, with alpha_t = A_t k_t,
//   unit        alpha / |alpha|        (the paper's)
//   projective  alpha / (k . alpha)    what was just written is recalled exactly
//   rls         alpha                  recursive least squares, where u = k: S minimises
//                                      sum |v_s - S^T k_s|^2 + lambda |S|^2 after every token
enum class write_rule { unit, projective, rls };

// A may be refreshed, A <- A + amount I after the tokens whose position is a multiple of `every`,
// before alpha is taken: a way to forget (docs/operators/vla.md).
struct penalty_refresh {
  index every = 0;  // 0: never
  double amount = 0;

  bool comes_after(index position) const { return every > 0 && position % every == 0; }
};

// The state of a head is K x (V + K): S, and in the last K columns the factor R of M = R^T R, upper
// triangular, its diagonal positive. A state of zeros stands for a memory that has seen nothing,
// and is one: M = lambda I. Where the penalty fades, see wane/core/recurrence/fading_penalty.hpp.
//   output_columns()         V
//   rule                     its write_rule
//   penalises_keys()         u = k for all tokens
//   lambda(head)             > 0
//   refresh()                its penalty_refresh
//   terms_at(place)          has key(i), query(i) and value(j), and
//   direction_at(place)(i)   u; i and j may be lanes where layout() says so. On a GPU both are
//                            given sums, too (row_lanes.hpp)
//   memory(directions, t)    S alone, an affine recurrence, its write directions read from
//                            directions [B, T, H, K] at time - t
template <class Op>
concept penalised_memory = stepwise_recurrence<Op> &&
    requires(Op const& op, place<> at, sequence_view<typename Op::accumulate const> directions) {
  requires std::same_as<decltype(Op::rule), write_rule const>;
  { op.penalises_keys() } -> std::same_as<bool>;
  op.lambda(at.head);
  { op.refresh() } -> std::same_as<penalty_refresh>;
  op.terms_at(at).key(index{}), op.terms_at(at).query(index{}), op.terms_at(at).value(index{});
  op.direction_at(at)(index{});
  { op.memory(directions, index{}) } -> affine_recurrence;
};

// More rows than any head has: what one token needs beside its state lies on the stack.
inline constexpr index most_penalised_rows = 1024;

// What alpha is divided by; one that is zero writes nothing.
template <write_rule Rule, class T>
WANE_INLINE T write_factor(T alpha_alpha, T key_alpha) {
  using std::sqrt;
  T const divisor = Rule == write_rule::unit         ? sqrt(alpha_alpha)
                    : Rule == write_rule::projective ? key_alpha
                                                     : T(1);
  return divisor == T(0) ? T(0) : T(1) / divisor;
}

// Householder's reflection of (r, w), r > 0, onto the first axis: with v = w over, d = v . w_l for
// another column (r_l, w_l) of the same rows,
//   r_l <- r_l + tau (d - v^2 r_l),   w_l <- w_l - tau (r_l + d) v
// (turned round, so that r stays positive; what is added to r_l is small where w is).
template <class T>
struct reflection {
  T over, tau, square;

  WANE_INLINE reflection(T r, T ww) {
    using std::sqrt;
    T const length = sqrt(multiply_add(r, r, ww));
    over = T(1) / (r + length);
    tau = (r + length) / length;
    square = ww * over * over;
  }
};

// A part of a state whose columns are neighbours in memory, or are not.
template <class State, bool Adjacent>
struct state_part {
  using value = State;
  State* data;
  index rows, row_stride, column_stride;

  State& operator()(index i, index j) const {
    return data[i * row_stride + (Adjacent ? j : j * column_stride)];
  }
  // The sum of row i times x from column `first` on.
  template <class T>
  T product(index i, index first, T const* x) const {
    row_sum<T> total;
    if constexpr (Adjacent && std::is_same_v<State, T>) {
      T const* const row = &(*this)(i, 0);
      for_row_lanes<T>(true, rows - first, [&](auto l) WANE_INLINE_LAMBDA {
        total.add(row_at(row + first, l), row_at(x + first, l));
      });
    } else {
      for (index l = first; l < rows; ++l) total.add(static_cast<T>((*this)(i, l)), x[l]);
    }
    return total.total();
  }
};

// M += w w^T for the factor R of M, where w is zero before `first`; w is lost.
template <class Factor, class T>
void add_direction(Factor const& factor, T* w, index first = 0) {
  for (index j = first; j < factor.rows; ++j) {
    reflection<T> const h(static_cast<T>(factor(j, j)), w[j] * w[j]);
    T const v = w[j] * h.over;
    for (index l = j; l < factor.rows; ++l) {
      T const r = static_cast<T>(factor(j, l)), d = v * w[l];
      factor(j, l) = static_cast<typename Factor::value>(
          multiply_add(h.tau, multiply_add(-h.square, r, d), r));
      w[l] = multiply_add(-v, h.tau * (r + d), w[l]);
    }
  }
}

// x <- M^-1 x.
template <class Factor, class T>
void solve_penalty(Factor const& factor, T* x) {
  for (index j = 0; j < factor.rows; ++j) {
    x[j] = x[j] / static_cast<T>(factor(j, j));
    for (index l = j + 1; l < factor.rows; ++l)
      x[l] = multiply_add(-x[j], static_cast<T>(factor(j, l)), x[l]);
  }
  for (index j = factor.rows; j-- > 0;)
    x[j] = (x[j] - factor.product(j, j + 1, x)) / static_cast<T>(factor(j, j));
}

// M <- (M^-1 + amount I)^-1 = R^T (I + amount R R^T)^-1 R: with C C^T the matrix in brackets, C
// upper triangular, R becomes C^-1 R. What C has above its diagonal lies, transposed, where R has
// nothing, and is zero in the end.
template <class T, class Factor>
void refresh_penalty(Factor const& factor, T amount) {
  using std::sqrt;
  using State = typename Factor::value;
  index const rows = factor.rows;
  T diagonal[most_penalised_rows], row[most_penalised_rows];
  auto const r = [&](index i, index j) { return static_cast<T>(factor(i, j)); };
  for (index i = 0; i < rows; ++i) {
    for (index l = i; l < rows; ++l) row[l] = r(i, l);
    for (index j = 0; j < i; ++j)
      factor(i, j) = static_cast<State>(amount * factor.product(j, i, row));
    diagonal[i] = multiply_add(amount, factor.product(i, i, row), T(1));
  }
  for (index j = rows; j-- > 0;) {
    diagonal[j] = sqrt(diagonal[j]);
    for (index i = 0; i < j; ++i) row[i] = r(j, i) / diagonal[j];
    for (index m = 0; m < j; ++m) {
      for (index i = 0; i < m; ++i)
        factor(m, i) = static_cast<State>(multiply_add(-row[m], row[i], r(m, i)));
      diagonal[m] = multiply_add(-row[m], row[m], diagonal[m]);
      factor(j, m) = static_cast<State>(row[m]);
    }
  }
  for (index i = rows; i-- > 0;) {
    for (index l = i; l < rows; ++l) row[l] = r(i, l);
    for (index l = i + 1; l < rows; ++l) {
      T const c = r(l, i);
      factor(l, i) = State(0);
      for (index j = l; j < rows; ++j) row[j] = multiply_add(-c, r(l, j), row[j]);
    }
    for (index l = i; l < rows; ++l) factor(i, l) = static_cast<State>(row[l] / diagonal[i]);
  }
}

// R of a memory that has seen nothing.
template <class Factor, class T>
void begin_factor(Factor const& factor, T lambda) {
  using std::sqrt;
  if (!(static_cast<T>(factor(0, 0)) == T(0))) return;
  for (index i = 0; i < factor.rows; ++i)
    factor(i, i) = static_cast<typename Factor::value>(sqrt(lambda));
}

// R^T R <- l R^T R + (1 - l) lambda I. What is left of nothing is nothing, whatever it was.
template <class Factor, class T>
void renew_penalty(Factor const& factor, T log_left, T lambda) {
  using std::exp, std::expm1, std::sqrt;
  bool const nothing = nothing_is_left(log_left);
  T const root = exp(log_left / T(2)), given = sqrt(-expm1(log_left) * lambda);
  for (index i = 0; i < factor.rows; ++i)
    for (index j = i; j < factor.rows; ++j) {
      auto& r = factor(i, j);
      r = static_cast<typename Factor::value>(nothing ? T(0) : root * static_cast<T>(r));
    }
  if (nothing) return begin_factor(factor, lambda);
  T axis[most_penalised_rows];
  for (index i = 0; i < factor.rows; ++i) {
    axis[i] = given;
    for (index j = i + 1; j < factor.rows; ++j) axis[j] = T(0);
    add_direction(factor, axis, i);
  }
}

template <class Op>
auto memory_decay_of(Op const& op, place<> at) {
  if constexpr (fading_penalty<Op>)
    return decay_from_log(op.memory_log_decay(at));
  else
    return no_decay{};
}

// One token into the columns of the state, and write(j, y) takes output j.
template <bool Adjacent, class Op, class State, class Write>
void advance_parts(Op const& op, place<> at, view<State, 2> const& state, Write const& write) {
  using T = typename Op::accumulate;
  index const rows = state.extent[0], columns = op.output_columns();
  using part = state_part<State, Adjacent>;
  part const memory{state.data, rows, state.stride[0], state.stride[1]},
      factor{state.data + columns * state.stride[1], rows, state.stride[0], state.stride[1]};
  auto const x = op.terms_at(at);
  auto const direction = op.direction_at(at);

  T alpha[most_penalised_rows], over(1);
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
  for (index i = 0; i < rows; ++i) alpha[i] = over * direction(i);
  add_direction(factor, alpha);
  if (op.refresh().comes_after(at.position))
    refresh_penalty(factor, static_cast<T>(op.refresh().amount));
  for (index i = 0; i < rows; ++i) alpha[i] = x.key(i);
  solve_penalty(factor, alpha);
  for (index i = 0; i < rows; ++i) alpha[i] = over * over * alpha[i];
  row_sum<T> alpha_alpha, key_alpha;
  for (index i = 0; i < rows; ++i)
    alpha_alpha.add(alpha[i], alpha[i]), key_alpha.add(x.key(i), alpha[i]);
  T const by = write_factor<Op::rule>(alpha_alpha.total(), key_alpha.total());
  for (index i = 0; i < rows; ++i) alpha[i] = by * alpha[i];

  auto const decay = memory_decay_of(op, at);
  T erased(1);
  if constexpr (fading_penalty<Op>) erased = factor_of(decay);
  // What a reset forgets may be anything.
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
template <class Op, class State, class Write>
void advance_penalised(Op const& op, place<> at, view<State, 2> const& state, Write const& write) {
  if (state.stride[1] == 1)
    advance_parts<true>(op, at, state, write);
  else
    advance_parts<false>(op, at, state, write);
}

}  // namespace wane
