// The range on which a geometric spectrum fits a kernel best, by search.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "wane/spectra/checks.hpp"
#include "wane/spectra/fit/fit_error.hpp"
#include "wane/spectra/fit/fit_objective.hpp"
#include "wane/spectra/fit/kernels.hpp"
#include "wane/spectra/fit/search.hpp"
#include "wane/spectra/rates/geometric.hpp"

namespace wane::spectra {

//   auto const range = wane::spectra::best_range(8, 4096, 0.5);  // for l^-0.5
//   auto const rates = wane::spectra::geometric(8, range);
//
// The range within [0.02/T, 30] whose `count` geometric rates fit the kernel on lags 1..T best. The
// error has several valleys, two or three along `high` alone, so the search begins with a grid.
// With few rates and an absolute metric the best `low` may lie far above 1/T: the error ignores
// lags at which the kernel is small.
template <target_kernel Kernel>
range best_range(std::int64_t count, std::int64_t horizon, Kernel const& kernel,
                 metric wanted = metric::absolute) {
  constexpr double grid_step = 0.4;  // of the logarithms; valleys are 0.8 apart or more
  constexpr std::size_t valleys = 6;
  constexpr double precision = 0.004;
  impl::require_count(count, "count");
  impl::fit_objective const error(kernel, horizon, wanted);
  double const slowest = std::log(0.02 / static_cast<double>(horizon));
  double const fastest = std::log(30.0);
  auto const error_on = [&](double log_low, double log_high) {
    if (log_low > log_high) return std::numeric_limits<double>::infinity();
    return error(geometric(count, std::exp(log_low), std::exp(log_high)));
  };
  double const least_high = std::max(slowest, std::log(0.1));
  impl::valley const best = impl::lowest_point(error_on, {slowest, fastest, least_high, fastest},
                                               grid_step, valleys, precision);
  return {std::exp(best.x), std::exp(best.y)};
}

// The same for the power law l^{-beta}.
inline range best_range(std::int64_t count, std::int64_t horizon, double beta) {
  return best_range(count, horizon, power_law(beta));
}

}  // namespace wane::spectra
