// penalised_memory: the concept of memories whose write direction is M^-1 k, M a penalty matrix.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <limits>

#include "wane/core/recurrence/recurrence.hpp"

namespace wane {

// u are penalty directions, k keys of length 1, M_t = lambda I + sum_{s<=t} u_s u_s^T, A = M^-1:
//   S_t = S_{t-1} + a_t (v_t - S_{t-1}^T k_t)^T,   y_t = S_t^T q_t.
// The rule chooses the write direction a_t, with alpha_t = A_t k_t:
//   unit        alpha / |alpha|        the rule of the VLA paper
//   projective  alpha / (k . alpha)    the value just written is recalled exactly
//   rls         alpha                  recursive least squares, where u = k: S minimises
//                                      sum |v_s - S^T k_s|^2 + lambda |S|^2 after every token
enum class write_rule { unit, projective, rls };

// A refresh makes the memory forget: A <- A + amount I at tokens whose position is a multiple of
// `every`, after u_t is added to M and before alpha_t is computed (docs/operators/vla.md).
struct penalty_refresh {
  index every = 0;  // 0: never
  double amount = 0;

  bool comes_after(index position) const { return every > 0 && position % every == 0; }
};

// The state of a head is K x (V + K). The first V columns are S. The last K columns are the factor
// R of M = R^T R, upper triangular with a positive diagonal. A state of zeros means that no token
// was seen, with M = lambda I. Penalties that fade have one more column (fading_penalty.hpp).
//   output_columns()         V
//   rule                     the write_rule, a constant
//   penalises_keys()         whether u = k for all tokens
//   lambda(head)             > 0
//   refresh()                the penalty_refresh
//   terms_at(place)          an object with key(i), query(i) and value(j)
//   direction_at(place)(i)   u. Here and in terms_at, i and j may be lanes where layout() allows
//                            it. On a GPU both functions also take sums (row_lanes.hpp)
//   memory(directions, t)    the recurrence of S alone, which is affine. It reads its write
//                            directions from directions, [B, T, H, K], at time - t
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

// The largest K. The numbers that a token needs beside its state lie in arrays of this size on the
// stack.
inline constexpr index most_penalised_rows = 1024;

template <class T>
inline constexpr T smallest_normal = std::numeric_limits<T>::min();

// The factor of alpha in the write direction. Where its divisor is zero, or a denormal number,
// which most machines take for zero here, nothing is written.
template <write_rule Rule, class T>
WANE_INLINE T write_factor(T alpha_alpha, T key_alpha) {
  using std::sqrt;
  if constexpr (Rule == write_rule::rls) {
    return T(1);
  } else {
    T const square = Rule == write_rule::unit ? alpha_alpha : key_alpha;
    if (-smallest_normal<T> < square && square < smallest_normal<T>) return T(0);
    return T(1) / (Rule == write_rule::unit ? sqrt(square) : square);
  }
}

// Householder reflection of the column (r, w), r > 0, onto the first axis, with ww = w . w. With
// v = over w, square = v . v and d = v . w_l, another column (r_l, w_l) of the same rows becomes
//   r_l <- r_l + tau (d - square r_l),   w_l <- w_l - tau (r_l + d) v
// The sign of the reflection is chosen so that r stays positive. The change of r_l is then small
// where w is small.
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
