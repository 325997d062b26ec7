// The spacing with which a linear spectrum fits a kernel best, by search.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "wane/spectra/checks.hpp"
#include "wane/spectra/fit/fit_error.hpp"
#include "wane/spectra/fit/fit_objective.hpp"
#include "wane/spectra/fit/kernels.hpp"
#include "wane/spectra/fit/search.hpp"
#include "wane/spectra/rates/linear.hpp"

namespace wane::spectra {

//   double const c = wane::spectra::best_linear_spacing(16, 4096, 0.5);  // for l^-0.5
//   auto const rates = wane::spectra::linear(16, c);
//
// The c in [0.02/T, 8] whose rates c (k+1) fit the kernel on lags 1..T best. T is `horizon`.
template <target_kernel Kernel>
double best_linear_spacing(std::int64_t count, std::int64_t horizon, Kernel const& kernel,
                           metric wanted = metric::absolute) {
  constexpr double grid_step = 0.1;
  constexpr std::size_t valleys = 8;
  constexpr double precision = 0.002;
  impl::require_count(count, "count");
  impl::fit_objective const error(kernel, horizon, wanted);
  auto const error_with = [&](double log_spacing, double) {
    return error(linear(count, std::exp(log_spacing)));
  };
  double const least = std::log(0.02 / static_cast<double>(horizon));
  return std::exp(
      impl::lowest_point(error_with, {least, std::log(8.0), 0, 0}, grid_step, valleys, precision)
          .x);
}

// The same for the power law l^{-beta}.
inline double best_linear_spacing(std::int64_t count, std::int64_t horizon, double beta) {
  return best_linear_spacing(count, horizon, power_law(beta));
}

}  // namespace wane::spectra
