// LU with partial pivoting, for square systems and for their transposes.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace wane::spectra::impl {

// P A = L U. L has a unit diagonal; one matrix holds both, row by row. Solutions of a singular
// matrix hold infinities or NaN; there is no error.
class lu {
 public:
  lu(std::vector<double> matrix_by_rows, std::size_t order)
      : a(std::move(matrix_by_rows)), size(order), rows(order) {
    for (std::size_t i = 0; i < size; ++i) rows[i] = i;
    for (std::size_t k = 0; k < size; ++k) {
      std::size_t pivot = k;
      for (std::size_t i = k + 1; i < size; ++i)
        if (std::abs(at(i, k)) > std::abs(at(pivot, k))) pivot = i;
      std::swap(rows[k], rows[pivot]);
      if (pivot != k) std::swap_ranges(row(k), row(k) + size, row(pivot));
      for (std::size_t i = k + 1; i < size; ++i) {
        double const factor = at(i, k) / at(k, k);
        at(i, k) = factor;
        double* const target = row(i);
        double const* const source = row(k);
        for (std::size_t j = k + 1; j < size; ++j) target[j] -= factor * source[j];
      }
    }
  }

  // x with A x = b.
  std::vector<double> solve(std::vector<double> const& b) const {
    std::vector<double> x(size);
    for (std::size_t i = 0; i < size; ++i) {
      x[i] = b[rows[i]];
      for (std::size_t j = 0; j < i; ++j) x[i] -= at(i, j) * x[j];
    }
    for (std::size_t i = size; i-- > 0;) {
      for (std::size_t j = i + 1; j < size; ++j) x[i] -= at(i, j) * x[j];
      x[i] /= at(i, i);
    }
    return x;
  }

  // y with A^T y = c: U^T and L^T, then the rows back in their places.
  std::vector<double> solve_transposed(std::vector<double> c) const {
    for (std::size_t i = 0; i < size; ++i) {
      c[i] /= at(i, i);
      for (std::size_t j = i + 1; j < size; ++j) c[j] -= at(i, j) * c[i];
    }
    for (std::size_t i = size; i-- > 0;)
      for (std::size_t j = 0; j < i; ++j) c[j] -= at(i, j) * c[i];
    std::vector<double> y(size);
    for (std::size_t i = 0; i < size; ++i) y[rows[i]] = c[i];
    return y;
  }

 private:
  double* row(std::size_t i) { return a.data() + i * size; }
  double& at(std::size_t i, std::size_t j) { return a[i * size + j]; }
  double at(std::size_t i, std::size_t j) const { return a[i * size + j]; }

  std::vector<double> a;
  std::size_t size;
  std::vector<std::size_t> rows;
};

}  // namespace wane::spectra::impl
