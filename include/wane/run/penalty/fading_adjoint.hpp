// The adjoint of a fading penalty: gradients by log decays and by the renewals of lambda I.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <vector>

#include "wane/run/penalty/sums.hpp"

namespace wane::impl {

// M_t = l_t R^T R (wane/core/recurrence/fading_penalty.hpp). penalty_sums holds the gradient by
// R^T R, which a direction enters as u_t/sqrt(l_t), so it takes u_t/sqrt(l_t) and l_t g_t.
// A token adds two terms to dL/dlog l_t: -g_t . k_t, as M^-1 contains 1/l_t (by_inverse), and
// -u_t . (dL/du_t)/2 through its direction. <dL/d(R^T R), R^T R> grows by the same two terms. Where
// a renewal makes l R^T R + (1 - l) lambda I, that product gives dL/dlog l, so R need not be kept.
template <penalised_memory Op>
class fading_adjoint {
 public:
  using T = typename Op::accumulate;

  fading_adjoint(Op const& op, walk const& w, T log_left) : op_(op), walk_(w) {
    penalty_left<T> left{log_left};
    for (index k = 0; k < w.count; ++k) {
      bool const renewed = left.fades_too_far(op, w.token(k));
      lefts_.push_back(left.log);
      if (renewed) left.log = T(0);
    }
  }

  // Starts from the gradients after the last token: of_left by log l, gradient(i, j) by R_ij,
  // j >= i.
  template <class Gradient>
  void begin(double of_left, penalty_factor<T> const& factor, Gradient const& gradient) {
    of_left_ = of_left;
    for (index i = 0; i < factor.rows(); ++i)
      for (index j = i; j < factor.rows(); ++j)
        of_whole_ += static_cast<double>(gradient(i, j) * factor(i, j)) / 2;
  }
  // The first token of the chunk that ends before `end`: the last one with a renewal before it, or
  // `first`.
  index cut(index first, index end) const {
    for (index k = end - 1; k > first; --k)
      if (is_renewed_before(k)) return k;
    return first;
  }
  // Scales rows of a chunk to the u_t/sqrt(l_t) and l_t g_t that penalty_sums takes.
  void scale(index first, int count, token_rows<T> const& u, token_rows<T> const& g) {
    for (int t = 0; t < count; ++t) {
      over_[t] = penalty_left<T>{is_renewed_before(first + t) ? T(0) : left_at(first + t)}.over();
      u.scale(t, over_[t]), g.scale(t, T(1) / (over_[t] * over_[t]));
    }
  }
  // Goes backwards through the chunk, after penalty_sums. u becomes dL/du, and give(k, x) receives
  // the gradient x by the log decay of token k. by_inverse(k) is dL/dlog l_k through M^-1, with the
  // share of the token's own direction where penalty_sums leaves that out.
  template <class ByInverse, class Give>
  void take(index first, int count, token_rows<T> const& u, penalty_sums<T>& sums,
            ByInverse const& by_inverse, Give const& give) {
    for (int t = count; t-- > 0;) {
      place<> const where = walk_.token(first + t);
      auto const direction = op_.direction_at(where);
      u.scale(t, over_[t]);
      T by_direction(0);
      for (index i = 0; i < u.rows(); ++i)
        by_direction = multiply_add(direction(i), u[t][i], by_direction);
      double const token = static_cast<double>(by_inverse(first + t) - by_direction / 2);
      of_left_ += token, of_whole_ += token;
      if (is_renewed_before(first + t)) renew(where, left_at(first + t), sums);
      give(first + t, of_left_);
    }
  }

  double of_left() const { return of_left_; }
  double of_lambda() const { return of_lambda_; }

 private:
  T left_at(index k) const { return lefts_[static_cast<std::size_t>(k)]; }
  bool is_renewed_before(index k) const { return left_at(k) < static_cast<T>(op_.log_renewal()); }

  void renew(place<> where, T log_left, penalty_sums<T>& sums) {
    double const given = -std::expm1(static_cast<double>(log_left)),
                 lambda = static_cast<double>(op_.lambda(where.head)),
                 trace = static_cast<double>(sums.of_lambda());
    T const left = std::exp(log_left);
    of_lambda_ += given * trace;
    of_left_ = left == T(0) ? 0 : of_whole_ - lambda * trace;
    of_whole_ = left == T(0) ? 0 : of_whole_ - given * lambda * trace;
    sums.scale(left);
  }

  Op const& op_;
  walk const& walk_;
  std::vector<T> lefts_;  // log l at every token, before it is renewed
  T over_[penalty_tokens];
  double of_left_ = 0, of_whole_ = 0, of_lambda_ = 0;
};

}  // namespace wane::impl
