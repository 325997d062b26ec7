// The autocorrelation of a series at each lag, with its noise.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/parallel.hpp"
#include "shared/progress.hpp"
#include "spectra/measurement.hpp"

namespace wane::bench {

// r(l) = (1/(n-l)) sum_i z_i z_{i+l},  z = (x - mean) / deviation
//
// Divided by the number of pairs, not by n: the shrinking by (n-l)/n of the other form would look
// like decay. The mean is the sample's own; a memory as long as the series is therefore seen too
// small, by the variance of that mean. White noise gives -1/n on average (the baseline), and
// scatters by 1/sqrt(n-l).
inline measured_lag measure_lag(std::span<double const> standardised, std::int64_t lag) {
  std::int64_t const pairs = std::ssize(standardised) - lag;
  measured_lag result{.lag = lag, .pairs = pairs};
  std::array<double, blocks> products{}, squares{};
  double product = 0, square = 0;
  double const* const z = standardised.data();
  for (std::size_t b = 0; b < blocks; ++b) {
    std::int64_t const end = block_begin(pairs, b + 1);
    for (std::int64_t i = block_begin(pairs, b); i < end; ++i) {
      products[b] += z[i] * z[i + lag];
      squares[b] += z[i] * z[i];
    }
    product += products[b];
    square += squares[b];
  }
  result.estimate = product / static_cast<double>(pairs);
  result.baseline = -1 / static_cast<double>(standardised.size());
  result.chance = 1 / std::sqrt(static_cast<double>(pairs));
  for (std::size_t b = 0; b < blocks; ++b) {  // the variance is estimated anew each time
    result.without[b] =
        (product - products[b]) / (square - squares[b]) * square / static_cast<double>(pairs);
  }
  return result;
}

// Mean 0 and mean square 1, in three passes. The values must vary. The first value is subtracted
// first: the mean of the values themselves may round by as much as they differ.
inline std::vector<double> standardised(std::span<double const> values) {
  auto const n = static_cast<double>(values.size());
  std::vector<double> result(values.begin(), values.end());
  for (double& x : result) x -= values.front();
  double mean = 0, square = 0;
  for (double const x : result) mean += x / n;
  double largest = 0;
  for (double& x : result) largest = std::max(largest, std::abs(x -= mean));
  for (double const x : result) square += (x / largest) * (x / largest) / n;
  double const deviation = largest * std::sqrt(square);
  for (double& x : result) x /= deviation;
  return result;
}

// Every lag must leave a pair in every block: lag <= values.size() - blocks.
inline measurement measure_series(std::span<double const> values,
                                  std::span<std::int64_t const> lags, unsigned threads,
                                  progress& shown) {
  std::vector<double> const z = standardised(values);
  measurement result{.quantity = "autocorrelation",
                     .unit = "",
                     .baseline_name = "white noise",
                     .correlation_power = 1,
                     .lags = std::vector<measured_lag>(lags.size())};
  shown.begin("measuring the series", lags.size());
  for_each_task(lags.size(), threads, [&](std::size_t i) {
    result.lags[i] = measure_lag(z, lags[i]);
    shown.advance();
  });
  return result;
}

}  // namespace wane::bench
