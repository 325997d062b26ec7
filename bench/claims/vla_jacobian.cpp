// VLA (arXiv 2605.11196), Proposition 2, its corollary and Table 2: norms of I - alpha k^T.
// SPDX-License-Identifier: MIT
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "claims/claim.hpp"
#include "claims/vla_algorithm.hpp"

namespace wane::bench {
namespace {

// The norm of J, by the eigenvalues of J^T J.
double spectral_norm(matrix const& j) {
  Eigen::SelfAdjointEigenSolver<matrix> const squares(j.transpose() * j, Eigen::EigenvaluesOnly);
  return std::sqrt(squares.eigenvalues().maxCoeff());
}
// Of unit vectors.
double norm_from_cosine(double rho) { return (1 + std::sqrt(5 - 4 * rho)) / 2; }

struct jacobians {
  double largest = 0;          // of a step
  double formula_error = 0;    // of norm_from_cosine
  double largest_product = 0;  // of the steps so far, looked at every 10th
  matrix product;              // J_T ... J_1

  jacobians(vla_variant const& variant, matrix const& key, matrix const& direction,
            bool unit = true)
      : product(matrix::Identity(key.cols(), key.cols())) {
    matrix const none(key.rows(), 0);
    after_all(variant, key, direction, none, [&](vla_algorithm const& memory, index t) {
      // (I - alpha k^T) P, written out.
      vector const read = product.transpose() * memory.key;
      product -= memory.write * read.transpose();
      double const rho = memory.write.dot(memory.key);
      if (unit) largest = std::max(largest, norm_from_cosine(rho));
      if (t % 10) return;
      largest_product = std::max(largest_product, spectral_norm(product));
      double const norm = spectral_norm(memory.jacobian());
      largest = std::max(largest, norm);
      if (unit) formula_error = std::max(formula_error, std::abs(norm - norm_from_cosine(rho)));
    });
  }
  double product_norm() const { return spectral_norm(product); }
};

vla_tokens keys_of(index width, index tokens = 1000) { return {drawn::apart, tokens, width, 1}; }

finding one_step() {
  vla_tokens const x = keys_of(32);
  jacobians const printed(as_printed(32), x.key, x.direction), equation({}, x.key, x.direction),
      of_keys({}, x.key, x.key);
  double const error =
      std::max({printed.formula_error, equation.formula_error, of_keys.formula_error});
  double const found = std::max({printed.largest, equation.largest, of_keys.largest});
  char remark[320];
  std::snprintf(remark, sizeof remark,
                "the largest of 1000 tokens, d = 32: Algorithm 1 %.2f, |u| = 1 %.2f, u = k %.2f; "
                "(1 + sqrt(5 - 4 rho))/2 with rho = alpha . k is right within %.0e, 1 for rho = 1 "
                "and below 1.618 as rho > 0",
                printed.largest, equation.largest, of_keys.largest, error);
  bool const bounded = found >= 1 && found < norm_from_cosine(0);
  return {found, std::abs(found - 1) < 1e-6, error < 1e-12 && bounded, remark};
}

finding without_normalisation() {
  vla_tokens const x = keys_of(96, 25);
  vla_variant const plain{.unit_keys = false, .unit_writes = false};
  jacobians const raw(plain, x.key, x.direction, false),
      printed({.length = 1 / std::sqrt(96.), .unit_keys = false, .unit_writes = false}, x.key,
              x.direction, false),
      unit_keys({.unit_writes = false}, x.key, x.direction, false);
  // u = k of any length: recursive least squares.
  matrix product = matrix::Identity(96, 96), m = plain.lambda * product;
  double largest = 0;
  for (index t = 0; t < x.key.rows(); ++t) {
    vector const k = x.key.row(t);
    m += k * k.transpose();
    product -= m.llt().solve(k) * (product.transpose() * k).transpose();
    largest = std::max(largest, spectral_norm(product));
  }
  double const found = std::log10(raw.product_norm());
  char remark[320];
  std::snprintf(remark, sizeof remark,
                "d = 96, features as they are, alpha = A k, |u| = 1: a step has up to %.0f, the "
                "product of 25 10^%.1f (|u| = 1/sqrt 96: %.0f, 10^%.1f; unit keys: %.1f, 10^%.1f); "
                "with u = k, not normalised either, the product is lambda A, at most %.3f",
                raw.largest, found, printed.largest, std::log10(printed.product_norm()),
                unit_keys.largest, std::log10(unit_keys.product_norm()), largest);
  return {found, std::abs(found - 32) < 3, largest <= 1 + 1e-12, remark};
}

// Correlated keys: each raw key is 0.95 times the last plus noise.
matrix slow_keys(index tokens, index width, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  matrix raw = normal_numbers(tokens, width, bits);
  for (index t = 1; t < tokens; ++t)
    raw.row(t) = 0.95 * raw.row(t - 1) + std::sqrt(1 - 0.95 * 0.95) * raw.row(t);
  return raw;
}

finding chain() {
  double found = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    matrix const raw = slow_keys(1000, 32, seed);
    std::mt19937_64 bits(seed + 100);
    matrix const direction = raw * normal_numbers(32, 32, bits);
    found = std::max(found, jacobians({}, features_of(raw), direction).largest_product);
    found = std::max(found, jacobians(as_printed(32), features_of(raw), direction).largest_product);
  }
  vla_tokens const x = keys_of(32);
  matrix const unit = x.key.rowwise().normalized();
  vla_variant const rls{.unit_writes = false};
  jacobians const least_squares(rls, unit, unit, false);
  matrix const a = after_all(rls, unit, unit, x.value).inverse;
  double const identity = (least_squares.product - rls.lambda * a).norm() / a.norm();
  char remark[320];
  std::snprintf(remark, sizeof remark,
                "keys that are 0.95 of the last, d = 32, 1000 tokens, the largest on the way; "
                "recursive least squares: the product is lambda A within %.0e, and at most %.3f",
                identity, least_squares.largest_product);
  return {found, found <= 1 + 1e-9, identity < 1e-12 && least_squares.largest_product <= 1 + 1e-12,
          remark};
}

finding vanishing() {
  vla_tokens const x = keys_of(32);
  double const found = jacobians({}, x.key, x.key).product_norm();
  char remark[240];
  std::snprintf(remark, sizeof remark,
                "u = k, 1000 tokens, d = 32: what is overwritten has no gradient; with W_u k of "
                "|u| = 1 %.2g, as printed %.2g",
                jacobians({}, x.key, x.direction).product_norm(),
                jacobians(as_printed(32), x.key, x.direction).product_norm());
  return {found, found > 0.1, false, remark};
}

}  // namespace

std::vector<claim> vla_jacobian_claims() {
  return {
      {"vla-prop2", "VLA, Proposition 2", "spectral norm of I - alpha k^T", 1, one_step},
      {"vla-table2", "VLA, Table 2",
       "log10 of the gradient's growth in 25 tokens without normalisation, about", 32,
       without_normalisation},
      {"vla-cor1", "VLA, Corollaries 1, 2", "norm of the product of Jacobians, at most", 1, chain},
      {"vla-cor1-vanish", "VLA, Corollary 1",
       "that of 1000 tokens, which does not vanish, at least", 0.1, vanishing}};
}

}  // namespace wane::bench
