// Random series with known autocorrelations: white, first-order, and a power law at every lag.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "shared/random.hpp"

namespace wane::bench {

inline double unit(random_bits& bits) {  // in (0, 1)
  return (static_cast<double>(below(bits, std::uint64_t{1} << 53)) + 0.5) * 0x1p-53;
}

inline double gaussian(random_bits& bits) {  // Box and Muller
  double const radius = std::sqrt(-2 * std::log(unit(bits)));
  return radius * std::cos(2 * std::numbers::pi * unit(bits));
}

inline std::vector<double> white_noise(std::size_t length, std::uint64_t seed) {
  random_bits bits(seed);
  std::vector<double> values(length);
  for (double& x : values) x = gaussian(bits);
  return values;
}

// x_t = phi x_{t-1} + sqrt(1 - phi^2) noise, stationary from the start: r(l) = phi^l.
inline std::vector<double> first_order_series(std::size_t length, double phi, std::uint64_t seed) {
  random_bits bits(seed);
  std::vector<double> values(length);
  double x = gaussian(bits);
  for (double& value : values) {
    value = x;
    x = phi * x + std::sqrt(1 - phi * phi) * gaussian(bits);
  }
  return values;
}

}  // namespace wane::bench
