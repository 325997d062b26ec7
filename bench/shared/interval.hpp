// interval_of: a mean of a few numbers and how well it is known.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <vector>

namespace wane::bench {

// A mean and half the width of its 95 % interval by Student's t; of one number the width is NaN.
struct interval {
  double mean = 0, half_width = NAN;
};

inline interval interval_of(std::vector<double> const& of) {
  // By the degrees of freedom, from 1; beyond 10 that of 11, which is a little wide.
  static constexpr std::array quantile{12.706, 4.303, 3.182, 2.776, 2.571,
                                       2.447,  2.365, 2.306, 2.262, 2.228};
  auto const n = static_cast<double>(of.size());
  interval found;
  for (double const x : of) found.mean += x / n;
  double squares = 0;
  for (double const x : of) squares += (x - found.mean) * (x - found.mean);
  if (of.size() > 1)
    found.half_width = (of.size() - 2 < quantile.size() ? quantile[of.size() - 2] : 2.201) *
                       std::sqrt(squares / (n - 1) / n);
  return found;
}

}  // namespace wane::bench
