// log_spaced_lags: the lags of 1..T that a fit takes, and denser ones to measure its error.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "wane/spectra/checks.hpp"

namespace wane::spectra {

//   std::vector<std::int64_t> const lags = wane::spectra::log_spaced_lags(65536, 200, 900);
//
// Every lag of 1..dense, then up to `spread` lags even in the logarithm up to T = horizon;
// ascending. Where T <= dense + spread, every lag of 1..T.
inline std::vector<std::int64_t> log_spaced_lags(std::int64_t horizon, std::int64_t dense,
                                                 std::int64_t spread) {
  impl::require_horizon(horizon, "horizon");
  impl::require_count(dense, "dense");
  impl::require_count(spread, "spread");
  std::vector<std::int64_t> lags;
  std::int64_t const last_dense = horizon <= dense + spread ? horizon : dense;
  for (std::int64_t lag = 1; lag <= last_dense; ++lag) lags.push_back(lag);
  if (last_dense == horizon) return lags;
  double const start = std::log(static_cast<double>(dense));
  double const stretch = std::log(static_cast<double>(horizon)) - start;
  for (std::int64_t i = 1; i < spread; ++i) {
    double const fraction = static_cast<double>(i) / static_cast<double>(spread);
    auto const lag = static_cast<std::int64_t>(std::llround(std::exp(start + fraction * stretch)));
    if (lag > lags.back() && lag < horizon) lags.push_back(lag);
  }
  lags.push_back(horizon);
  return lags;
}

}  // namespace wane::spectra

namespace wane::spectra::impl {

// The error of N exponentials turns N times between 1 and T, about evenly in log l. Up to 32 rates
// its largest value on these lags is mostly within 1 % of that on checking_lags, at worst within 4
// %.
inline std::vector<std::int64_t> fitting_lags(std::int64_t horizon) {
  return log_spaced_lags(horizon, 200, 900);
}

// Every lag up to 2^14, and ten times the density of fitting_lags beyond.
inline std::vector<std::int64_t> checking_lags(std::int64_t horizon) {
  return log_spaced_lags(horizon, std::int64_t{1} << 14, 9000);
}

}  // namespace wane::spectra::impl
