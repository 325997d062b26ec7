// A reference of the exchange method: rank + 1 lags, the best fit on them, the bound it proves.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/LU>
#include <cmath>
#include <cstddef>
#include <vector>

#include "wane/spectra/exponential_basis.hpp"

namespace wane::spectra {

// On rank + 1 lags there is, up to a factor, one y with Sum_i y_i f(l_i) = 0 for every f of the
// span. Duality: <y, error> is the same for every fit and at most |y|_1 max|error|, so no fit has a
// smaller maximum than |<y, error>| / |y|_1; the fit whose error is h sign(y_i) on the reference
// attains it there. Signs of y alternate for exponentials in exact arithmetic; rounding may turn
// those of entries that are nearly zero, and nothing here relies on them.
class reference_fit {
 public:
  // `error` is that of some fit on all lags, small to keep digits; `lags` are increasing indices.
  reference_fit(exponential_basis const& basis, std::vector<std::size_t> const& lags,
                std::vector<double> const& error)
      : system(Eigen::MatrixXd::Ones(size_of(lags), size_of(lags))), values(size_of(lags)) {
    Eigen::Index const rank = system.cols() - 1;
    for (Eigen::Index i = 0; i <= rank; ++i) {
      std::size_t const lag = lags[static_cast<std::size_t>(i)];
      for (Eigen::Index j = 0; j < rank; ++j)
        system(i, j) = basis.function(static_cast<std::size_t>(j))[lag];
      values(i) = error[lag];
      if (i % 2 == 1) system(i, rank) = -1;
    }
    solve_dual();
    if ((system.col(rank).array() * y.array() < 0).any()) {
      system.col(rank) = (y.array() < 0).select(Eigen::VectorXd::Constant(rank + 1, -1), 1);
      solve_dual();
    }
  }

  // To add to the coefficients of the fit that `error` came from.
  std::vector<double> step() const {
    Eigen::VectorXd const solution = factors.solve(values);
    return {solution.begin(), solution.end() - 1};
  }

  double lower_bound() const {
    double const bound = std::abs(y.dot(values)) / y.lpNorm<1>();
    return std::isfinite(bound) ? bound : 0;
  }

  // Which lag of the reference leaves when `entering` comes in with an error of the fit above the
  // bound: y_entering grows from zero until the first of the other y_i vanishes. The bound rises.
  std::size_t leaving(exponential_basis const& basis, std::size_t entering, bool positive) const {
    Eigen::Index const rank = system.cols() - 1;
    Eigen::VectorXd row = Eigen::VectorXd::Zero(rank + 1);
    for (Eigen::Index j = 0; j < rank; ++j)
      row(j) = basis.function(static_cast<std::size_t>(j))[entering];
    // Signs so that the reference's error is that of y.
    double const direction = (y.dot(values) > 0) == positive ? 1 : -1;
    Eigen::VectorXd const change = factors.transpose().solve(Eigen::VectorXd(direction * row));
    double const smallest_change = 1e-9 * change.lpNorm<Eigen::Infinity>();  // rounding is less
    Eigen::Index first = 0;
    double least = -1;
    for (Eigen::Index i = 0; i <= rank; ++i) {
      double const ratio = y(i) / change(i);
      if (std::abs(change(i)) > smallest_change && ratio >= 0 && (least < 0 || ratio < least)) {
        least = ratio;
        first = i;
      }
    }
    return static_cast<std::size_t>(first);
  }

 private:
  static Eigen::Index size_of(std::vector<std::size_t> const& lags) {
    return static_cast<Eigen::Index>(lags.size());
  }

  void solve_dual() {
    factors.compute(system);
    y = factors.transpose().solve(Eigen::VectorXd::Unit(system.cols(), system.cols() - 1));
  }

  Eigen::MatrixXd system;  // basis functions on the reference, and the signs of the error
  Eigen::VectorXd values;
  Eigen::PartialPivLU<Eigen::MatrixXd> factors;
  Eigen::VectorXd y;
};

}  // namespace wane::spectra
