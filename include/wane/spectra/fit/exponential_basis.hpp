// exponential_basis: an orthonormal basis of exponentials e^{-r_k l} on given lags.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "wane/spectra/algebra/pivoted_qr.hpp"

namespace wane::spectra::impl {

// Pivoted QR of the columns row_scale_l e^{-r_k l}, each scaled to length one. Neighbouring
// exponentials are nearly parallel, so only `rank` rates are kept: those whose part orthogonal to
// the rates kept before exceeds `smallest_part` of their length. A rate that repeats another, or
// that has decayed to nothing at the first lag, is not kept and gets weight 0.
class exponential_basis {
 public:
  exponential_basis(std::vector<double> const& rates, std::vector<std::int64_t> const& lags,
                    std::vector<double> const& row_scale, double smallest_part = 1e-14)
      : lag_total(lags.size()),
        lengths(rates.size(), 1.0),
        qr(columns(rates, lags, row_scale, lengths), lags.size(), smallest_part) {}

  std::size_t rank() const { return qr.rank(); }
  std::size_t lag_count() const { return lag_total; }

  // Basis function j on every lag.
  std::span<double const> function(std::size_t j) const { return qr.column(j); }

  // Indices of `rank` lags on which the basis is well conditioned: approximate Fekete points, found
  // by pivoting over the lags.
  std::vector<std::size_t> best_conditioned_lags() const {
    std::vector<double> transposed;
    transposed.reserve(lag_total * rank());
    for (std::size_t i = 0; i < lag_total; ++i)
      for (std::size_t j = 0; j < rank(); ++j) transposed.push_back(function(j)[i]);
    std::vector<std::size_t> lags;
    if (rank() == 0) return lags;
    pivoted_qr const over_lags(std::move(transposed), rank());
    for (std::size_t j = 0; j < over_lags.rank(); ++j) lags.push_back(over_lags.pivot(j));
    return lags;
  }

  // Weights of the exponentials, in the order of the rates, from coefficients of the basis.
  std::vector<double> weights(std::vector<double> coefficients) const {
    std::vector<double> result = qr.back_substitute(std::move(coefficients));
    for (std::size_t k = 0; k < result.size(); ++k) result[k] /= lengths[k];
    return result;
  }

 private:
  // A shorter column holds no digits, and its weight would overflow.
  static constexpr double shortest_length = 1e-290;

  static std::vector<double> columns(std::vector<double> const& rates,
                                     std::vector<std::int64_t> const& lags,
                                     std::vector<double> const& row_scale,
                                     std::vector<double>& lengths) {
    std::vector<double> result(rates.size() * lags.size());
    for (std::size_t k = 0; k < rates.size(); ++k) {
      std::span<double> const column(result.data() + k * lags.size(), lags.size());
      double largest = 0;
      for (std::size_t i = 0; i < lags.size(); ++i) {
        column[i] = row_scale[i] * std::exp(-rates[k] * static_cast<double>(lags[i]));
        largest = std::max(largest, column[i]);
      }
      bool const holds_digits = largest >= shortest_length;
      for (double& value : column) value = holds_digits ? value / largest : 0;
      double const length = holds_digits ? std::sqrt(dot(column, column)) : 1;
      for (double& value : column) value /= length;
      lengths[k] = holds_digits ? largest * length : 1;
    }
    return result;
  }

  std::size_t lag_total;
  std::vector<double> lengths;
  pivoted_qr qr;
};

}  // namespace wane::spectra::impl
