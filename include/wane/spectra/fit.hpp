// The best fit of a kernel by exponentials of given rates, in the largest error over the lags.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/spectra/checks.hpp"
#include "wane/spectra/exponential_basis.hpp"
#include "wane/spectra/fit_error.hpp"
#include "wane/spectra/kernels.hpp"
#include "wane/spectra/lags.hpp"
#include "wane/spectra/minimax.hpp"

namespace wane::spectra {

// The best fit of samples: values_i on lags_i (increasing, in steps). `rates` in any order; of
// repeated ones one gets the weight.
inline kernel_fit fit(std::vector<double> const& rates, std::vector<std::int64_t> const& lags,
                      std::vector<double> const& values, metric wanted = metric::absolute) {
  require_rates(rates);
  require_samples(lags, values, wanted);
  std::vector<double> const row_scale = row_scale_of(wanted, values);
  exponential_basis const basis(rates, lags, row_scale);
  kernel_fit result;
  result.weights.assign(rates.size(), 0.0);
  result.rank = basis.rank();
  std::vector<std::size_t> reference;
  for (int pass = 0; pass < 2; ++pass) {  // the second fits what rounding of weights left
    std::vector<double> target(lags.size());
    for (std::size_t i = 0; i < lags.size(); ++i)
      target[i] = row_scale[i] * (values[i] - impulse_response(rates, result.weights, lags[i]));
    minimax_solution const solution = minimax(basis, target, reference);
    std::vector<double> const step = basis.weights(solution.coefficients);
    for (std::size_t k = 0; k < step.size(); ++k) result.weights[k] += step[k];
    result.lower_bound = solution.lower_bound;
    reference = solution.reference;
  }
  measure(result, rates, lags, values);
  return result;
}

// The best fit of a kernel on lags 1..T: weights from fitting_lags, errors measured on the denser
// checking_lags (every lag where T <= 2^14).
template <target_kernel Kernel>
kernel_fit fit(std::vector<double> const& rates, Kernel const& kernel, std::int64_t horizon,
               metric wanted = metric::absolute) {
  std::vector<std::int64_t> const lags = fitting_lags(horizon);
  kernel_fit result = fit(rates, lags, values_at(kernel, lags), wanted);
  std::vector<std::int64_t> const dense = checking_lags(horizon);
  measure(result, rates, dense, values_at(kernel, dense));
  return result;
}

}  // namespace wane::spectra
