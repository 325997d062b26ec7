// fit: the weights of given rates that make the largest error over the lags smallest.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/spectra/checks.hpp"
#include "wane/spectra/fit/exponential_basis.hpp"
#include "wane/spectra/fit/fit_error.hpp"
#include "wane/spectra/fit/kernels.hpp"
#include "wane/spectra/fit/lags.hpp"
#include "wane/spectra/fit/minimax.hpp"

namespace wane::spectra::impl {

// The best fit in the span of a basis of the rates.
inline kernel_fit fit_in(exponential_basis const& basis, std::vector<double> const& rates,
                         std::vector<std::int64_t> const& lags, std::vector<double> const& values,
                         std::vector<double> const& row_scale, double tolerance) {
  kernel_fit result;
  result.weights.assign(rates.size(), 0.0);
  result.rank = basis.rank();
  std::vector<std::size_t> reference;
  for (int pass = 0; pass < 2; ++pass) {  // the second fits the error left by rounding
    std::vector<double> target(lags.size());
    for (std::size_t i = 0; i < lags.size(); ++i)
      target[i] = row_scale[i] * (values[i] - impulse_response(rates, result.weights, lags[i]));
    minimax_solution const solution = minimax(basis, target, reference, tolerance);
    std::vector<double> const step = basis.weights(solution.coefficients);
    for (std::size_t k = 0; k < step.size(); ++k) result.weights[k] += step[k];
    result.lower_bound = solution.lower_bound;
    reference = solution.reference;
  }
  measure(result, rates, lags, values);
  return result;
}

}  // namespace wane::spectra::impl

namespace wane::spectra {

//   auto const found = wane::spectra::fit(rates, lags, values, wane::spectra::metric::relative);
//   double const error = found.max_relative_error;  // with the weights found.weights
//
// The best fit of samples: values_i on lags_i (increasing, in steps). `rates` come in any order;
// one of several equal rates gets the weight. Nearly dependent rates take weights of up to 1e13,
// whose rounding can cost more than the last rates gain, so fewer rates are tried while the error
// is not close to its lower bound. Throws wane::error for rates, lags or values that cannot be
// fitted.
inline kernel_fit fit(std::vector<double> const& rates, std::vector<std::int64_t> const& lags,
                      std::vector<double> const& values, metric wanted = metric::absolute,
                      double tolerance = 1e-6) {
  constexpr double close = 1.03;
  constexpr double rounding = 1e-14;
  impl::require_rates(rates);
  impl::require_samples(lags, values, wanted);
  std::vector<double> const row_scale = impl::row_scale_of(wanted, values);
  double largest = 0;
  for (std::size_t i = 0; i < lags.size(); ++i)
    largest = std::max(largest, row_scale[i] * std::abs(values[i]));
  kernel_fit best;
  for (double smallest_part : {1e-14, 1e-13, 1e-12, 1e-11}) {
    impl::exponential_basis const basis(rates, lags, row_scale, smallest_part);
    kernel_fit const found = impl::fit_in(basis, rates, lags, values, row_scale, tolerance);
    if (best.weights.empty() || impl::error_in(wanted, found) < impl::error_in(wanted, best))
      best = found;
    if (impl::error_in(wanted, found) <= std::max(close * found.lower_bound, rounding * largest))
      break;
  }
  return best;
}

//   auto const found = wane::spectra::fit(rates, wane::spectra::power_law(0.5), 4096);
//
// The best fit of a kernel on lags 1..T. Weights come from about a thousand lags; errors are
// measured on up to 25 000, every lag where T <= 2^14.
template <target_kernel Kernel>
kernel_fit fit(std::vector<double> const& rates, Kernel const& kernel, std::int64_t horizon,
               metric wanted = metric::absolute) {
  std::vector<std::int64_t> const lags = impl::fitting_lags(horizon);
  kernel_fit result = fit(rates, lags, values_at(kernel, lags), wanted);
  std::vector<std::int64_t> const dense = impl::checking_lags(horizon);
  impl::measure(result, rates, dense, values_at(kernel, dense));
  return result;
}

}  // namespace wane::spectra
