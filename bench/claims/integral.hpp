// Integrals over a logarithm, by the trapezoidal rule.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

namespace wane::bench {

// Int f(x) dx from x = e^low to e^high; f is called with x.
template <class Function>
double integral_in_log(Function const& f, double low, double high, int points = 20000) {
  double const step = (high - low) / points;
  double sum = 0;
  for (int i = 0; i <= points; ++i) {
    double const x = std::exp(low + i * step);
    sum += (i == 0 || i == points ? 0.5 : 1) * x * f(x);
  }
  return sum * step;
}

}  // namespace wane::bench
