// Geometric spectra: rates evenly spaced in the logarithm, and the ranges that have names.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/checks.hpp"
#include "wane/spectra/rates/evenly_spaced.hpp"

namespace wane::spectra {

//   auto const rates = wane::spectra::geometric(16, wane::spectra::wide_range(4096));
//   auto const same = wane::spectra::geometric(16, 0.3 / 4096, 4);

// The slowest and the fastest rate, per step.
struct range {
  double low;
  double high;
};

// [1/T, 1]: timescales from PoST's anchors tau = T down to tau = 1.
inline range unit_range(std::int64_t horizon) {
  impl::require_horizon(horizon, "horizon");
  return {1 / static_cast<double>(horizon), 1};
}

// [0.3/T, 4]: fits power laws orders of magnitude better than unit_range from N = 16 on, because
// their fastest part decays faster than e^{-1} a step.
inline range wide_range(std::int64_t horizon) {
  impl::require_horizon(horizon, "horizon");
  return {0.3 / static_cast<double>(horizon), 4};
}

// r_k = low (high/low)^{k/(N-1)}, slowest first; both ends exact. N = 1 gives `low` alone.
inline std::vector<double> geometric(std::int64_t count, double low, double high) {
  impl::require_count(count, "count");
  impl::require_positive(low, "low");
  impl::require_positive(high, "high");
  require(low <= high, "low is ", low, "; it must not exceed high, which is ", high);
  std::vector<double> rates = impl::evenly_spaced(count, std::log(low), std::log(high));
  for (double& rate : rates) rate = std::exp(rate);
  if (count > 1) rates.back() = high;
  rates.front() = low;
  return rates;
}

inline std::vector<double> geometric(std::int64_t count, range rates) {
  return geometric(count, rates.low, rates.high);
}

}  // namespace wane::spectra
