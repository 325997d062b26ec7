// gauss_legendre_sum: VORT's own sum of exponentials, by Gauss and Legendre's rule in log rate.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Eigenvalues>
#include <cmath>
#include <cstdint>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/checks.hpp"
#include "wane/spectra/exponential_sum.hpp"
#include "wane/spectra/geometric.hpp"
#include "wane/spectra/kernels.hpp"

namespace wane::spectra {

// Theorem 3.1's limits of the rates for an absolute error on lags 0..horizon, as printed. The lower
// one does not give the tail that is stated for alpha of 0.5 and above.
inline range vort_range(std::int64_t horizon, double accuracy) {
  require_horizon(horizon, "horizon");
  require(accuracy > 0 && accuracy < 1, "accuracy is ", accuracy, "; it must be in (0, 1)");
  double const ratio = 2 * static_cast<double>(horizon) / accuracy;
  return {1 / ratio, 2 * std::log(ratio)};
}

// VORT, section 3: `terms` nodes of the rule in log rate between the limits, weights from the
// density. A reference to compare with: sum_of_accuracy needs fewer terms. Not certified.
template <completely_monotone Kernel>
exponential_sum gauss_legendre_sum(Kernel const& kernel, std::int64_t terms, range limits) {
  require_count(terms, "terms");
  require(limits.low > 0 && limits.low < limits.high, "limits are ", limits.low, " and ",
          limits.high, "; they must be positive and increasing");
  // Golub and Welsch (1969); Legendre's polynomials have k^2/(4k^2-1) beside the diagonal.
  Eigen::VectorXd const diagonal = Eigen::VectorXd::Zero(terms);
  Eigen::VectorXd beside(terms - 1);
  for (Eigen::Index k = 1; k < terms; ++k) {
    auto const n = static_cast<double>(k);
    beside(k - 1) = n / std::sqrt(4 * n * n - 1);
  }
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(diagonal, beside);
  double const middle = std::log(limits.low * limits.high) / 2;
  double const half = std::log(limits.high / limits.low) / 2;
  exponential_sum sum;
  for (Eigen::Index k = 0; k < terms; ++k) {
    double const first = solver.eigenvectors()(0, k);
    double const rate = std::exp(middle + half * solver.eigenvalues()(k));
    sum.rates.push_back(rate);
    sum.weights.push_back(2 * first * first * half * rate * kernel.density(rate));
  }
  sum.at_zero = kernel.at_zero();
  return sum;
}

}  // namespace wane::spectra
