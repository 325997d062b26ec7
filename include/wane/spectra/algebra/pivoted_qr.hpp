// pivoted_qr: an orthonormal basis of the columns of a matrix, the most independent first.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace wane::spectra::impl {

// Four independent sums, which the processor adds at the same time.
inline double dot(std::span<double const> a, std::span<double const> b) {
  std::array<double, 4> sums{};
  std::size_t i = 0;
  for (; i + 4 <= a.size(); i += 4)
    for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  for (; i < a.size(); ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// y <- y + s x
inline void add_scaled(std::span<double> y, double s, std::span<double const> x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += s * x[i];
}

// A P = Q R by Gram and Schmidt. Every column is made orthogonal at least twice, so Q is
// orthonormal to rounding. Each step takes the column with the longest rest and stops where no rest
// is longer than `smallest`: the number of steps is the rank.
class pivoted_qr {
 public:
  // `columns` holds the matrix column by column.
  pivoted_qr(std::vector<double> columns, std::size_t row_count, double smallest = 0)
      : rows(row_count), q(std::move(columns)), pivots(q.size() / rows) {
    for (std::size_t j = 0; j < pivots.size(); ++j) pivots[j] = j;
    r.assign(pivots.size() * pivots.size(), 0.0);
    while (kept < std::min(rows, pivots.size()) && keep_next(smallest)) ++kept;
  }

  std::size_t rank() const { return kept; }
  // The column of A that became column j of Q.
  std::size_t pivot(std::size_t j) const { return pivots[j]; }
  std::span<double const> column(std::size_t j) const { return {q.data() + j * rows, rows}; }

  // x with A x = Q coefficients; columns beyond the rank get 0.
  std::vector<double> back_substitute(std::vector<double> coefficients) const {
    std::vector<double> x(pivots.size(), 0.0);
    for (std::size_t j = kept; j-- > 0;) {
      coefficients[j] /= entry(j, j);
      for (std::size_t i = 0; i < j; ++i) coefficients[i] -= coefficients[j] * entry(i, j);
      x[pivots[j]] = coefficients[j];
    }
    return x;
  }

 private:
  double entry(std::size_t i, std::size_t j) const { return r[i + j * pivots.size()]; }
  double& entry(std::size_t i, std::size_t j) { return r[i + j * pivots.size()]; }
  std::span<double> writable(std::size_t j) { return {q.data() + j * rows, rows}; }

  bool keep_next(double smallest) {
    std::size_t longest = kept;
    double longest_square = -1;
    for (std::size_t j = kept; j < pivots.size(); ++j) {
      double const square = dot(column(j), column(j));
      if (square > longest_square) {
        longest_square = square;
        longest = j;
      }
    }
    if (!(std::sqrt(longest_square) > smallest)) return false;
    std::swap(pivots[kept], pivots[longest]);
    if (longest != kept) {
      std::ranges::swap_ranges(writable(kept), writable(longest));
      for (std::size_t i = 0; i < kept; ++i) std::swap(entry(i, kept), entry(i, longest));
    }
    std::span<double> const next = writable(kept);
    orthogonalise(next);
    double const length = std::sqrt(dot(next, next));
    entry(kept, kept) = length;
    for (double& value : next) value /= length;
    for (std::size_t j = kept + 1; j < pivots.size(); ++j) {
      double const part = dot(next, column(j));
      add_scaled(writable(j), -part, next);
      entry(kept, j) = part;
    }
    return true;
  }

  // Makes `next` orthogonal to the columns before it; repeats while a pass removes most of it.
  void orthogonalise(std::span<double> next) {
    double before;
    double after = dot(next, next);
    do {
      before = after;
      for (std::size_t i = 0; i < kept; ++i) {
        double const part = dot(column(i), next);
        add_scaled(next, -part, column(i));
        entry(i, kept) += part;
      }
      after = dot(next, next);
    } while (after > 0 && after < before / 4);
  }

  std::size_t rows;
  std::vector<double> q;
  std::vector<double> r;
  std::vector<std::size_t> pivots;
  std::size_t kept = 0;
};

}  // namespace wane::spectra::impl
