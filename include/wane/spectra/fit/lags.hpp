// Which lags of 1..T a fit looks at, and which denser ones its error is then measured on.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "wane/spectra/checks.hpp"

namespace wane::spectra {

// Every lag of 1..dense, then up to `spread` lags even in the logarithm, T the last; ascending.
// Every lag of 1..T where that is no more than dense + spread.
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

// The error of N exponentials turns N times between 1 and T, about evenly in log l: up to 32 rates
// these lags miss its extremum by under 1 %, and by 4 % at the most, measured on checking_lags.
inline std::vector<std::int64_t> fitting_lags(std::int64_t horizon) {
  return log_spaced_lags(horizon, 200, 900);
}

// Every lag up to 2^14 and ten times the density beyond.
inline std::vector<std::int64_t> checking_lags(std::int64_t horizon) {
  return log_spaced_lags(horizon, std::int64_t{1} << 14, 9000);
}

}  // namespace wane::spectra::impl
