// One row of the comparison: a spectrum, its fit to the target on lags 1..last, its measures.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace wane::bench {

struct comparison_row {
  std::string spectrum;
  std::int64_t channels = 0;
  std::int64_t last_lag = 0;  // the horizon, or the position t of a row for --at
  double max_absolute_error = 0;
  double max_relative_error = 0;
  double coherence = 0;  // the largest overlap of two channels, 0 to 1; 0 for one channel
  std::int64_t effective_channels = 0;  // those whose timescale 1/r lies in [1, last_lag]
  double longest_half_life = 0;         // steps
  std::vector<double> rates;            // per step
  std::vector<double> weights;          // of the exponentials e^{-rate l}

  // Sum of |weights|, of a kernel of 1 at its first lag: noise in the state grows by it.
  double sum_of_weights() const {
    double sum = 0;
    for (double const w : weights) sum += std::abs(w);
    return sum;
  }
  bool weights_cancel() const { return sum_of_weights() > 100; }

  // N distinct exponentials pass through N lags of any kernel.
  bool error_says_nothing() const { return channels >= last_lag; }
};

}  // namespace wane::bench
