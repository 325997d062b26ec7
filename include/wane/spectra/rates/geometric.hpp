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

// r_0 = low, r_{N-1} = high, rates per step.
struct range {
  double low;
  double high;
};

// PoST's anchors tau = T and tau = 1: rates in [1/T, 1].
inline range unit_range(std::int64_t horizon) {
  impl::require_horizon(horizon, "horizon");
  return {1 / static_cast<double>(horizon), 1};
}

// [0.3/T, 4]: power laws are fitted orders of magnitude better than on unit_range once N >= 16,
// because their fastest part decays faster than e^{-1} per step.
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
