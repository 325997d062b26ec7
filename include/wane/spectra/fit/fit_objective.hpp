// fit_objective: the error of the best fit on few lags, for searches over spectra.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "wane/spectra/fit/fit.hpp"
#include "wane/spectra/fit/fit_error.hpp"
#include "wane/spectra/fit/kernels.hpp"
#include "wane/spectra/fit/lags.hpp"

namespace wane::spectra::impl {

// Takes 300 lags; the error is within a few percent of that of fit().
class fit_objective {
 public:
  template <target_kernel Kernel>
  fit_objective(Kernel const& kernel, std::int64_t horizon, metric wanted_metric)
      : lags(log_spaced_lags(horizon, 60, 240)),
        values(values_at(kernel, lags)),
        wanted(wanted_metric) {
    require_samples(lags, values, wanted);
  }

  double operator()(std::vector<double> const& rates) const {
    constexpr double tolerance = 1e-3;
    return error_in(wanted, fit(rates, lags, values, wanted, tolerance));
  }

 private:
  std::vector<std::int64_t> lags;
  std::vector<double> values;
  metric wanted;
};

}  // namespace wane::spectra::impl
