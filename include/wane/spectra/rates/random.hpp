// Random spectra: independent rates on [1/T, 1], uniform in the logarithm or in the rate.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "wane/spectra/checks.hpp"

namespace wane::spectra {

//   auto const rates = wane::spectra::random_log_uniform(16, 4096, 1);  // seed 1

// A number in [0, 1) from the top 53 bits. Standard libraries agree on every bit of mt19937_64 but
// not on uniform_real_distribution; this way a seed gives the same numbers everywhere.
inline double unit_uniform(std::mt19937_64& bits) {
  return static_cast<double>(bits() >> 11) * 0x1p-53;
}

// r = T^{-u}, u uniform on [0, 1): log-uniform on (1/T, 1], sorted, slowest first. The draw is the
// same everywhere; std::exp and std::log may differ in the last ulp.
inline std::vector<double> random_log_uniform(std::int64_t count, std::int64_t horizon,
                                              std::uint64_t seed) {
  impl::require_count(count, "count");
  impl::require_horizon(horizon, "horizon");
  std::mt19937_64 bits(seed);
  double const log_horizon = std::log(static_cast<double>(horizon));
  std::vector<double> rates(static_cast<std::size_t>(count));
  for (double& rate : rates) rate = std::exp(-log_horizon * unit_uniform(bits));
  std::sort(rates.begin(), rates.end());
  return rates;
}

// r uniform on [1/T, 1), sorted, slowest first. The draw is the same everywhere to the last bit:
// std::fma rounds once whether or not a compiler contracts a sum of a product.
inline std::vector<double> random_uniform(std::int64_t count, std::int64_t horizon,
                                          std::uint64_t seed) {
  impl::require_count(count, "count");
  impl::require_horizon(horizon, "horizon");
  std::mt19937_64 bits(seed);
  double const low = 1 / static_cast<double>(horizon);
  std::vector<double> rates(static_cast<std::size_t>(count));
  for (double& rate : rates) rate = std::fma(1 - low, unit_uniform(bits), low);
  std::sort(rates.begin(), rates.end());
  return rates;
}

}  // namespace wane::spectra
