// What a search over spectra makes smallest: the error of the best fit, on fewer lags than fit().
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/spectra/exponential_basis.hpp"
#include "wane/spectra/fit_error.hpp"
#include "wane/spectra/kernels.hpp"
#include "wane/spectra/lags.hpp"
#include "wane/spectra/minimax.hpp"

namespace wane::spectra {

// On 300 lags, within a few percent of fit()'s error. Measured with the weights themselves, so that
// of two spectra at the floor of rounding the one with the smaller weights wins.
class fit_objective {
 public:
  template <target_kernel Kernel>
  fit_objective(Kernel const& kernel, std::int64_t horizon, metric wanted)
      : lags(log_spaced_lags(horizon, 60, 240)), values(values_at(kernel, lags)) {
    require_samples(lags, values, wanted);
    row_scale = row_scale_of(wanted, values);
    for (std::size_t i = 0; i < lags.size(); ++i) scaled_values.push_back(row_scale[i] * values[i]);
  }

  double operator()(std::vector<double> const& rates) const {
    constexpr double tolerance = 1e-4;
    exponential_basis const basis(rates, lags, row_scale);
    minimax_solution const solution = minimax(basis, scaled_values, {}, tolerance);
    std::vector<double> const weights = basis.weights(solution.coefficients);
    double largest = 0;
    for (std::size_t i = 0; i < lags.size(); ++i) {
      double const error = impulse_response(rates, weights, lags[i]) - values[i];
      largest = std::max(largest, row_scale[i] * std::abs(error));
    }
    return largest;
  }

 private:
  std::vector<std::int64_t> lags;
  std::vector<double> values;
  std::vector<double> row_scale;
  std::vector<double> scaled_values;
};

}  // namespace wane::spectra
