// exponential_sum: a kernel as a sum of exponentials, ready for exponential_bank.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/spectra/fit/fit_error.hpp"

namespace wane::spectra {

// Upper bounds on the error of a sum on lags 1..horizon; for a kernel known by samples alone, on
// the lags evaluated.
struct certificate {
  double max_relative_error = 0, max_absolute_error = 0;
  std::int64_t worst_relative_lag = 0, worst_absolute_lag = 0;  // where the largest was seen
  std::int64_t horizon = 0;
  std::int64_t lags_evaluated = 0;  // equal to horizon: every lag
  bool samples_only = false;        // the lags in between are unknown
};

//   wane::spectra::exponential_sum const sum = wane::spectra::sum_of_terms(kernel, 4096, 16);
//   double const weight = sum(100);  // at lag 100
//
// at_zero at lag 0, Sum_s weights_s e^{-rates_s l} at lags l >= 1. An exponential_bank takes
// log_decay = -rates, key = weights, query = 1 and direct = feed_through().
struct exponential_sum {
  std::vector<double> rates;    // per step, slowest first; 0 keeps for ever
  std::vector<double> weights;  // positive, except from shared_rates
  double at_zero = 0;           // the kernel at lag 0
  certificate error;

  std::size_t terms() const { return rates.size(); }
  double operator()(std::int64_t lag) const {
    return lag == 0 ? at_zero : impulse_response(rates, weights, lag);
  }
  // The weight that a read-out adds to the current token beside the exponentials.
  double feed_through() const {
    double rest = at_zero;
    for (double weight : weights) rest -= weight;
    return rest;
  }
};

}  // namespace wane::spectra
