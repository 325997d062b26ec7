// gauss_rule: a few nodes with the moments of a larger measure; all weights are positive.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Eigenvalues>
#include <cstddef>
#include <vector>

namespace wane::spectra::impl {

struct node {
  double at, weight;
};

// The rule of a measure of mass `total` from the recurrence of its orthonormal polynomials, whose
// coefficients are the diagonal and the entries beside it of a tridiagonal matrix (Golub and Welsch
// 1969). Nodes ascend.
inline std::vector<node> gauss_rule(Eigen::VectorXd const& diagonal, Eigen::VectorXd const& beside,
                                    double total) {
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(diagonal, beside);
  std::vector<node> rule;
  for (Eigen::Index k = 0; k < diagonal.size(); ++k) {
    double const first = solver.eigenvectors()(0, k);
    rule.push_back({solver.eigenvalues()(k), total * first * first});
  }
  return rule;
}

// The rule of `count` nodes with Sum weight p(at) = Sum over `measure` for every polynomial p of
// degree below 2 count. Stieltjes' procedure finds the coefficients; it is stable for few nodes.
// Weights of the measure are positive. A measure of at most `count` nodes is returned as it is.
inline std::vector<node> gauss_rule(std::vector<node> const& measure, std::size_t count) {
  if (measure.size() <= count) return measure;
  auto const size = static_cast<Eigen::Index>(count);
  Eigen::VectorXd diagonal(size), beside(size > 1 ? size - 1 : 0);
  // Orthonormal polynomials, the one before the last and the last, on the nodes of the measure.
  double total = 0;
  for (node const& n : measure) total += n.weight;
  std::vector<double> before(measure.size(), 0.0), last(measure.size(), 1 / std::sqrt(total));
  double length = 0;
  for (Eigen::Index k = 0; k < size; ++k) {
    double mean = 0;
    for (std::size_t i = 0; i < measure.size(); ++i)
      mean += measure[i].weight * measure[i].at * last[i] * last[i];
    diagonal(k) = mean;
    if (k + 1 == size) break;
    double square = 0;
    for (std::size_t i = 0; i < measure.size(); ++i) {
      double const next = (measure[i].at - mean) * last[i] - length * before[i];
      before[i] = last[i], last[i] = next;
      square += measure[i].weight * next * next;
    }
    length = std::sqrt(square);
    for (double& value : last) value /= length;
    beside(k) = length;
  }
  return gauss_rule(diagonal, beside, total);
}

}  // namespace wane::spectra::impl
