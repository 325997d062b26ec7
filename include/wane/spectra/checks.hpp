// Checks of arguments of the spectra: counts, horizons, positive numbers, rates.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/core/error.hpp"

namespace wane::spectra::impl {

// The longest horizon in steps: every lag up to 2^53 is a double.
inline constexpr std::int64_t longest_horizon = std::int64_t{1} << 53;

inline void require_count(std::int64_t count, char const* name) {
  require(count >= 1, name, " is ", count, "; it must be at least 1");
}

// A horizon or a position, in steps.
inline void require_horizon(std::int64_t horizon, char const* name) {
  require(horizon >= 1 && horizon <= longest_horizon, name, " is ", horizon,
          "; it must be from 1 to 2^53 steps");
}

inline void require_positive(double value, char const* name) {
  require(std::isfinite(value) && value > 0, name, " is ", value,
          "; it must be positive and finite");
}

// Rates per step in any order, duplicates included.
inline void require_rates(std::vector<double> const& rates) {
  require(!rates.empty(), "rates is empty; it must hold at least one rate");
  for (std::size_t k = 0; k < rates.size(); ++k)
    require(std::isfinite(rates[k]) && rates[k] > 0, "rates[", k, "] is ", rates[k],
            "; a rate must be positive and finite");
}

}  // namespace wane::spectra::impl
