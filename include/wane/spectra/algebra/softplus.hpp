// softplus: a positive number from any real number, its inverse, and its slope.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

namespace wane::spectra {

inline double softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}
// The x with softplus(x) = y > 0.
inline double inverse_softplus(double y) { return y + std::log(-std::expm1(-y)); }
// d softplus/dx.
inline double logistic(double x) {
  return x > 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

}  // namespace wane::spectra
