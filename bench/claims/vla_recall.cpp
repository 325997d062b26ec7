// VLA (arXiv 2605.11196), sections 3 and 4.3: the solutions, recall and order of the rules.
// SPDX-License-Identifier: MIT
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "claims/claim.hpp"
#include "claims/vla_algorithm.hpp"
#include "claims/vla_memory.hpp"

namespace wane::bench {
namespace {

constexpr index width = 32;

struct pairs {
  matrix key, value, direction;  // unit keys

  explicit pairs(index count, std::uint64_t seed = 1) {
    std::mt19937_64 bits(seed);
    key = features_of(normal_numbers(count, width, bits)).rowwise().normalized();
    value = normal_numbers(count, width, bits);
    direction = normal_numbers(count, width, bits);
  }
  // The largest |S^T k - v| / |v|.
  double error(matrix const& state) const {
    return ((key * state - value).rowwise().norm().array() / value.rowwise().norm().array())
        .maxCoeff();
  }
  double last_error(matrix const& state) const {
    vector const v = value.bottomRows(1).transpose();
    return ((key.bottomRows(1) * state).transpose() - v).norm() / v.norm();
  }
  template <write_rule Rule>
  matrix held(double lambda) const {
    return held_by_vla<Rule>(key, value, lambda).state;
  }
};

double relative_error(matrix const& a, matrix const& right) {
  return (a - right).norm() / right.norm();
}

finding exact_recovery() {
  using enum write_rule;
  pairs const x(16);
  double const found = x.error(x.held<unit>(1e-9)), rls_error = x.error(x.held<rls>(1e-9));
  double const projective_error = x.error(x.held<projective>(1e-9));
  vla_options const options{.lambda = 1e-9};
  matrix const given = held_by_vla<unit>(x.key, x.value, options, x.key, x.direction).state;
  char remark[400];
  std::snprintf(remark, sizeof remark,
                "16 random keys, d = 32, u = k, lambda 1e-9 (0.1): unit %.2f (%.2f); rls %.0e "
                "(%.2f), projective %.0e (%.2f); other directions, unit %.1f; delta_net %.1f",
                found, x.error(x.held<unit>(0.1)), rls_error, x.error(x.held<rls>(0.1)),
                projective_error, x.error(x.held<projective>(0.1)), x.error(given),
                x.error(held_by_delta_net(x.key, x.value).state));
  return {found, found < 1e-6, rls_error < 1e-6 && projective_error < 1e-6, remark};
}

finding just_written() {
  using enum write_rule;
  pairs const x(24);
  double const found = x.last_error(x.held<unit>(0.1));
  double const ours = x.last_error(x.held<projective>(0.1));
  char remark[200];
  std::snprintf(remark, sizeof remark,
                "the last of 24 random keys, u = k, lambda 0.1: what is missing of v; projective "
                "%.0e, whatever lambda",
                ours);
  return {found, found < 1e-9, ours < 1e-12, remark};
}

// (17): V K^T (K K^T + M)^{-1}, u = k; and without the second K K^T.
matrix ridge(pairs const& x, double of_keys, double lambda) {
  matrix const m = of_keys * x.key.transpose() * x.key + lambda * matrix::Identity(width, width);
  return m.llt().solve(x.key.transpose() * x.value);
}

finding counted_twice() {
  pairs const x(16);
  auto const share = [&](matrix const& state) {
    return (x.key * state).cwiseProduct(x.value).sum() / x.value.squaredNorm();
  };
  double const found = share(ridge(x, 2, 1e-6)), ours = share(x.held<write_rule::rls>(1e-6));
  char remark[200];
  std::snprintf(remark, sizeof remark,
                "what (17) recalls of v, u = k, lambda 1e-6, 16 keys; keys are counted twice, in "
                "the errors and in M; rls %.6f",
                ours);
  return {found, std::abs(found - 1) < 1e-3, std::abs(ours - 1) < 1e-3, remark};
}

// With N = K K^T + M the normal equations S N = V K^T change by a token to
// S_t = S_{t-1} + ((v - S_{t-1} k) k^T - S_{t-1} u u^T) N_t^{-1}.
matrix solution_in_order(pairs const& x, matrix const& u, double lambda) {
  matrix s = matrix::Zero(width, width), n = lambda * matrix::Identity(width, width);
  for (index t = 0; t < x.key.rows(); ++t) {
    matrix const penalty = u.row(t).transpose() * u.row(t);
    n += x.key.row(t).transpose() * x.key.row(t) + penalty;
    matrix const error = x.value.row(t) - x.key.row(t) * s;
    s += n.llt().solve(x.key.row(t).transpose() * error - penalty * s);
  }
  return s;
}

finding solves_objective() {
  using enum write_rule;
  pairs const x(24);
  matrix const printed = ridge(x, 2, 0.1), right = ridge(x, 1, 0.1);
  double const found = relative_error(x.held<unit>(0.1), printed);
  double const ours = relative_error(x.held<rls>(0.1), right);
  char remark[320];
  std::snprintf(remark, sizeof remark,
                "S of (10) against (17), 24 keys, u = k, lambda 0.1; against V K^T (K K^T + "
                "lambda)^-1 %.2f; rls against that %.0e; (17) is followed with S u u^T taken away "
                "too, and K K^T + M for M: %.0e",
                relative_error(x.held<unit>(0.1), right), ours,
                relative_error(solution_in_order(x, x.key, 0.1), printed));
  return {found, found < 1e-9, ours < 1e-11, remark};
}

finding fixed_penalty() {
  vla_tokens const x(drawn::apart, 200, width, 1);
  matrix const s = after_all({.adapts = false}, x).state.transpose();
  matrix const linear = x.key.rowwise().normalized().transpose() * x.value;
  double const along = s.cwiseProduct(linear).sum() / linear.squaredNorm();
  double const found = (s - along * linear).norm() / s.norm();
  double const ours = relative_error(s, held_by_delta_net(x.key, x.value).state);
  char remark[200];
  std::snprintf(remark, sizeof remark,
                "200 tokens, the nearest multiple of linear attention's state; from delta_net of "
                "strength 1 and unit keys it differs by %.0e",
                ours);
  return {found, found < 1e-9, ours < 1e-12, remark};
}

// S_T from S_0 = 0 by composing all (F, G), each F on the left as (12) has it or on the right.
finding composition() {
  constexpr index count = 64;
  vla_tokens const x(drawn::apart, count, width, 1);
  matrix const one = matrix::Identity(width, width), zero = matrix::Zero(width, width);
  matrix left = zero, right = zero, right_of_errors = zero, left_of_values = zero;
  vla_algorithm const memory =
      after_all({}, x.key, x.direction, x.value, [&](vla_algorithm const& m, index t) {
        matrix const f = one - m.write * m.key.transpose();
        matrix const e = m.error * m.write.transpose();
        matrix const v = x.value.row(t).transpose() * m.write.transpose();
        left = f * left + e, left_of_values = f * left_of_values + v;
        right = right * f.transpose() + v, right_of_errors = right_of_errors * f.transpose() + e;
      });
  double const found = relative_error(left, memory.state);
  double const ours = relative_error(right, memory.state);
  char remark[320];
  std::snprintf(remark, sizeof remark,
                "64 tokens; with v for e in G, F still on the left, %.2f; on the right, I - k "
                "alpha^T, with e %.2f, and with v %.0e, which is what vla's memory composes, its S "
                "transposed; e holds S_{t-1}, and F and S do not fit where K is not V",
                relative_error(left_of_values, memory.state),
                relative_error(right_of_errors, memory.state), ours);
  return {found, found < 1e-9, ours < 1e-12, remark};
}

finding in_chunks() {
  constexpr index count = 1000;
  vla_tokens const x(drawn::apart, count, width, 1);
  vla_options const options{.lambda = 0.1};
  auto const chunked = held_by_vla<write_rule::unit>(x.key, x.value, options, x.query, x.direction);
  vla_algorithm const in_order = after_all({}, x);
  matrix const unit = x.direction.rowwise().normalized();
  matrix const m = unit.transpose() * unit + 0.1 * matrix::Identity(width, width);
  matrix const one = matrix::Identity(width, width);
  double const found = relative_error(chunked.state, in_order.state.transpose());
  double const of_sum = (m.llt().solve(one) - in_order.inverse).norm() / in_order.inverse.norm();
  double const of_factor = relative_error(chunked.factor.transpose() * chunked.factor, m);
  char remark[320];
  std::snprintf(remark, sizeof remark,
                "1000 tokens, vla 16 at a time against Algorithm 1's order, |u| = 1, no refresh: S "
                "within %.0e; M is a sum, which may be taken in any order: R^T R is it within "
                "%.0e, its inverse A within %.0e",
                found, of_factor, of_sum);
  return {found, found >= 1, std::max({found, of_factor, of_sum}) < 1e-11, remark};
}

}  // namespace

std::vector<claim> vla_recall_claims() {
  return {
      {"vla-prop3", "VLA, Proposition 3", "largest error of recall, independent keys", 0,
       exact_recovery},
      {"vla-eq10", "VLA, section 4.3", "what a read misses of what was just written", 0,
       just_written},
      {"vla-eq17", "VLA, equation (17)", "share of v that its solution recalls", 1, counted_twice},
      {"vla-3.3", "VLA, section 3.3", "distance of the recursion from the solution of (7)", 0,
       solves_objective},
      {"vla-3.5", "VLA, section 3.5", "distance from linear attention with A = 10 I fixed", 0,
       fixed_penalty},
      {"vla-eq12", "VLA, equation (12)", "error of S by composing (F, G)", 0, composition},
      {"vla-3.4", "VLA, section 3.4", "error of A in chunks of tokens, if it cannot be parallel", 1,
       in_chunks}};
}

}  // namespace wane::bench
