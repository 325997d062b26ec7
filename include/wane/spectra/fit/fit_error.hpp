// kernel_fit: weights of exponentials, and their error against a kernel on given lags.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/checks.hpp"

namespace wane::spectra {

// The error that a fit makes smallest: max |f - kernel|, as in PoST, or max |f - kernel| /
// |kernel|.
enum class metric { absolute, relative };

struct kernel_fit {
  std::vector<double> weights;  // c_k, in the order of the rates, of any sign
  // Measured with these weights: f(l) = Sum_k c_k e^{-r_k l} against the kernel.
  double max_absolute_error = 0;
  std::int64_t worst_absolute_lag = 0;
  double max_relative_error = 0;  // over lags where the kernel is not zero
  std::int64_t worst_relative_lag = 0;
  // No weights of the `rank` rates that double precision tells apart have a smaller largest error
  // in the fitted metric (by duality).
  double lower_bound = 0;
  std::size_t rank = 0;
};

}  // namespace wane::spectra

namespace wane::spectra::impl {

inline double error_in(metric wanted, kernel_fit const& fit) {
  return wanted == metric::absolute ? fit.max_absolute_error : fit.max_relative_error;
}

}  // namespace wane::spectra::impl

namespace wane::spectra {

// Sum_k weights_k e^{-rates_k lag}.
inline double impulse_response(std::vector<double> const& rates, std::vector<double> const& weights,
                               std::int64_t lag) {
  double sum = 0;
  for (std::size_t k = 0; k < rates.size(); ++k)
    sum += weights[k] * std::exp(-rates[k] * static_cast<double>(lag));
  return sum;
}

}  // namespace wane::spectra

namespace wane::spectra::impl {

inline void require_samples(std::vector<std::int64_t> const& lags,
                            std::vector<double> const& values, metric wanted) {
  require(!lags.empty(), "lags is empty; it must hold at least one lag");
  require(values.size() == lags.size(), "values has ", values.size(),
          " entries; it must have one for each of the ", lags.size(), " lags");
  for (std::size_t i = 0; i < lags.size(); ++i) {
    require(lags[i] >= (i == 0 ? 0 : lags[i - 1] + 1) && lags[i] <= longest_horizon, "lags[", i,
            "] is ", lags[i], "; lags must not be negative, must increase, and end by 2^53");
    require(std::isfinite(values[i]), "values[", i, "] is ", values[i], "; it must be finite");
    require(wanted == metric::absolute || values[i] != 0, "values[", i,
            "] is 0; a relative error needs values that are not zero");
  }
}

// The factor by which the metric multiplies the error at each lag.
inline std::vector<double> row_scale_of(metric wanted, std::vector<double> const& values) {
  std::vector<double> scale(values.size(), 1.0);
  if (wanted == metric::relative)
    for (std::size_t i = 0; i < values.size(); ++i) scale[i] = 1 / std::abs(values[i]);
  return scale;
}

// Measures fit.weights on the lags and writes the errors into `fit`.
inline void measure(kernel_fit& fit, std::vector<double> const& rates,
                    std::vector<std::int64_t> const& lags, std::vector<double> const& values) {
  fit.max_absolute_error = fit.max_relative_error = 0;
  fit.worst_absolute_lag = fit.worst_relative_lag = lags.front();
  for (std::size_t i = 0; i < lags.size(); ++i) {
    double const error = std::abs(impulse_response(rates, fit.weights, lags[i]) - values[i]);
    if (error > fit.max_absolute_error) {
      fit.max_absolute_error = error;
      fit.worst_absolute_lag = lags[i];
    }
    if (values[i] != 0 && error / std::abs(values[i]) > fit.max_relative_error) {
      fit.max_relative_error = error / std::abs(values[i]);
      fit.worst_relative_lag = lags[i];
    }
  }
}

}  // namespace wane::spectra::impl
