// An orthonormal basis of the span of exponentials e^{-r_k l} on given lags.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace wane::spectra {

// Pivoted QR of the columns row_scale_l e^{-r_k l}, each scaled to length one. Neighbouring
// exponentials are nearly parallel, so only `rank` of the rates are kept: those whose part
// orthogonal to the ones kept before exceeds `smallest_part` of their length. A rate that repeats
// another, or that decays away before the first lag, is not kept and gets weight 0.
class exponential_basis {
 public:
  exponential_basis(std::vector<double> const& rates, std::vector<std::int64_t> const& lags,
                    std::vector<double> const& row_scale, double smallest_part = 1e-14)
      : rate_total(rates.size()), lag_total(lags.size()) {
    auto const row_count = static_cast<Eigen::Index>(lags.size());
    auto const column_count = static_cast<Eigen::Index>(rates.size());
    Eigen::MatrixXd columns(row_count, column_count);
    std::vector<double> length(rates.size());
    for (Eigen::Index k = 0; k < column_count; ++k) {
      double const rate = rates[static_cast<std::size_t>(k)];
      for (Eigen::Index i = 0; i < row_count; ++i) {
        auto const at = static_cast<std::size_t>(i);
        columns(i, k) = row_scale[at] * std::exp(-rate * static_cast<double>(lags[at]));
      }
      double const size = columns.col(k).stableNorm();
      length[static_cast<std::size_t>(k)] = size;
      if (size >= shortest_length)
        columns.col(k) /= size;
      else
        columns.col(k).setZero();
    }
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> const qr(columns);
    auto const& r = qr.matrixQR();
    Eigen::Index const diagonal = std::min(row_count, column_count);
    Eigen::Index kept = 0;
    while (kept < diagonal && std::abs(r(kept, kept)) > smallest_part) ++kept;
    Eigen::MatrixXd const q = qr.householderQ() * Eigen::MatrixXd::Identity(row_count, kept);
    Eigen::MatrixXd const corner = r.topLeftCorner(kept, kept);
    orthonormal.assign(q.data(), q.data() + q.size());
    triangle.assign(corner.data(), corner.data() + corner.size());
    for (Eigen::Index j = 0; j < kept; ++j) {
      auto const rate = static_cast<std::size_t>(qr.colsPermutation().indices()(j));
      kept_rates.push_back(rate);
      kept_lengths.push_back(length[rate]);
    }
  }

  std::size_t rank() const { return kept_rates.size(); }
  std::size_t lag_count() const { return lag_total; }

  // Basis function j on every lag.
  std::span<double const> function(std::size_t j) const {
    return std::span(orthonormal).subspan(j * lag_total, lag_total);
  }

  // `rank` lags, as indices, on which the basis is well conditioned: approximate Fekete points, by
  // pivoting over the lags.
  std::vector<std::size_t> best_conditioned_lags() const {
    std::vector<std::size_t> lags;
    if (rank() == 0) return lags;
    Eigen::Map<Eigen::MatrixXd const> const basis(orthonormal.data(),
                                                  static_cast<Eigen::Index>(lag_total),
                                                  static_cast<Eigen::Index>(rank()));
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> const qr(basis.transpose());
    for (Eigen::Index j = 0; j < basis.cols(); ++j)
      lags.push_back(static_cast<std::size_t>(qr.colsPermutation().indices()(j)));
    return lags;
  }

  // Weights of the exponentials, in the order of the rates, from coefficients of the basis.
  std::vector<double> weights(std::vector<double> coefficients) const {
    std::vector<double> weights(rate_total, 0.0);
    for (std::size_t j = rank(); j-- > 0;) {  // back substitution
      double const* const column = triangle.data() + j * rank();
      coefficients[j] /= column[j];
      for (std::size_t i = 0; i < j; ++i) coefficients[i] -= coefficients[j] * column[i];
      weights[kept_rates[j]] = coefficients[j] / kept_lengths[j];
    }
    return weights;
  }

 private:
  // A shorter column holds no digits, and its weight would overflow.
  static constexpr double shortest_length = 1e-290;

  std::size_t rate_total;
  std::size_t lag_total;
  std::vector<double> orthonormal;  // lags x rank, column by column
  std::vector<double> triangle;     // rank x rank, column by column
  std::vector<std::size_t> kept_rates;
  std::vector<double> kept_lengths;
};

}  // namespace wane::spectra
