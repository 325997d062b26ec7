// penalised_memory: memories that write where an inverse penalty matrix points, by VLA's rules.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "wane/core/recurrence/recurrence.hpp"

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
concept penalised_memory = has_shape<Op> && requires {
  typename Op::accumulate;
} && requires(Op const& op, place<> at, sequence_view<typename Op::accumulate const> directions) {
  requires std::same_as<decltype(Op::rule), write_rule const>;
  { op.penalises_keys() } -> std::same_as<bool>;
  op.lambda(at.head);
  { op.refresh() } -> std::same_as<penalty_refresh>;
  op.terms_at(at).key(index{}), op.terms_at(at).query(index{}), op.terms_at(at).value(index{});
  op.direction_at(at)(index{});
  { op.memory(directions, index{}) } -> affine_recurrence;
};

}  // namespace wane

namespace wane::impl {

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

}  // namespace wane::impl
