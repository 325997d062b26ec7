// exponential_sum: a kernel as a sum of exponentials, the state a bank needs to remember by it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/spectra/fit/fit_error.hpp"

namespace wane::spectra {

// How far a sum is from its kernel on lags 1..horizon: no lag is further off than this; where the
// kernel is known by samples alone, none of the lags evaluated.
struct certificate {
  double max_relative_error = 0, max_absolute_error = 0;
  std::int64_t worst_relative_lag = 0, worst_absolute_lag = 0;  // where the largest was seen
  std::int64_t horizon = 0;
  std::int64_t lags_evaluated = 0;  // all of them, where that is the horizon
  bool samples_only = false;        // nothing is known of the lags in between
};

// direct at lag 0, Sum_s weights_s e^{-rates_s l} at lags l >= 1: for exponential_bank log_decay =
// -rates, key = weights, query = 1, and direct = feed_through().
struct exponential_sum {
  std::vector<double> rates;    // per step, slowest first; 0 keeps for ever
  std::vector<double> weights;  // positive, but for shared_rates
  double at_zero = 0;           // the kernel at lag 0
  certificate error;

  std::size_t terms() const { return rates.size(); }
  double operator()(std::int64_t lag) const {
    return lag == 0 ? at_zero : impulse_response(rates, weights, lag);
  }
  // What a read-out adds for the current token, beside the exponentials.
  double feed_through() const {
    double rest = at_zero;
    for (double weight : weights) rest -= weight;
    return rest;
  }
};

}  // namespace wane::spectra
