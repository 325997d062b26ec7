// A reference of the exchange method: rank + 1 lags, the best fit on them, the bound it proves.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "wane/spectra/algebra/lu.hpp"
#include "wane/spectra/algebra/pivoted_qr.hpp"
#include "wane/spectra/fit/exponential_basis.hpp"

namespace wane::spectra::impl {

// On rank + 1 lags there is, up to a factor, one y with Sum_i y_i f(l_i) = 0 for every f of the
// span. Duality: <y, error> is the same for every fit and at most |y|_1 max|error|, so no fit has a
// largest error below |<y, error>| / |y|_1. The fit with the error h sign(y_i) attains this bound
// on the reference. In exact arithmetic the signs of y alternate for exponentials; rounding may
// turn the sign of an entry near 0, so the code does not rely on alternation.
class reference_fit {
 public:
  // `error` is the error of some fit on all lags; a small error keeps digits. `lags` are increasing
  // indices.
  reference_fit(exponential_basis const& basis, std::vector<std::size_t> const& lags,
                std::vector<double> const& error)
      : rank(basis.rank()), signs(lags.size()), system(matrix(basis, lags, alternate(signs))) {
    for (std::size_t lag : lags) values.push_back(error[lag]);
    y = dual();
    bool agree = true;
    for (std::size_t i = 0; i <= rank; ++i) agree = agree && signs[i] * y[i] >= 0;
    if (agree) return;
    for (std::size_t i = 0; i <= rank; ++i) signs[i] = y[i] < 0 ? -1 : 1;
    system = matrix(basis, lags, signs);
    y = dual();
  }

  // The change of the coefficients of the fit that has `error`.
  std::vector<double> step() const {
    std::vector<double> solution = system.solve(values);
    solution.pop_back();
    return solution;
  }

  double lower_bound() const {
    double size = 0;
    for (double part : y) size += std::abs(part);
    double const bound = std::abs(dot(y, values)) / size;
    return std::isfinite(bound) ? bound : 0;
  }

  // The lag of the reference that leaves when `entering`, whose error exceeds the bound, comes in:
  // y_entering grows from 0 until the first of the other y_i vanishes. This raises the bound.
  std::size_t leaving(exponential_basis const& basis, std::size_t entering, bool positive) const {
    // The sign with which the error at `entering` agrees with that of y.
    double const direction = (dot(y, values) > 0) == positive ? 1 : -1;
    std::vector<double> row(rank + 1, 0.0);
    for (std::size_t j = 0; j < rank; ++j) row[j] = direction * basis.function(j)[entering];
    std::vector<double> const change = system.solve_transposed(std::move(row));
    double const smallest_change = 1e-9 * largest_size(change);  // less may be rounding
    std::size_t first = 0;
    double least = -1;
    for (std::size_t i = 0; i <= rank; ++i) {
      double const ratio = y[i] / change[i];
      if (std::abs(change[i]) > smallest_change && ratio >= 0 && (least < 0 || ratio < least)) {
        least = ratio;
        first = i;
      }
    }
    return first;
  }

 private:
  static double largest_size(std::vector<double> const& parts) {
    double largest = 0;
    for (double part : parts) largest = std::max(largest, std::abs(part));
    return largest;
  }

  static std::vector<double> const& alternate(std::vector<double>& signs) {
    for (std::size_t i = 0; i < signs.size(); ++i) signs[i] = i % 2 == 0 ? 1 : -1;
    return signs;
  }

  // Columns: the basis functions on the reference, and the signs of the error.
  static lu matrix(exponential_basis const& basis, std::vector<std::size_t> const& lags,
                   std::vector<double> const& signs) {
    std::vector<double> rows;
    rows.reserve(lags.size() * lags.size());
    for (std::size_t i = 0; i < lags.size(); ++i) {
      for (std::size_t j = 0; j < basis.rank(); ++j) rows.push_back(basis.function(j)[lags[i]]);
      rows.push_back(signs[i]);
    }
    return {std::move(rows), lags.size()};
  }

  // y: orthogonal to the basis functions, with Sum_i signs_i y_i = 1.
  std::vector<double> dual() const {
    std::vector<double> right(rank + 1, 0.0);
    right.back() = 1;
    return system.solve_transposed(std::move(right));
  }

  std::size_t rank;
  std::vector<double> signs;
  lu system;
  std::vector<double> values;
  std::vector<double> y;
};

}  // namespace wane::spectra::impl
