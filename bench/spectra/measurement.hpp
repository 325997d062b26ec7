// Measurements at each lag: an estimate, its baseline by chance, and the noise.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace wane::bench {

// Contiguous pieces of equally many pairs. Leaving out each in turn shows how much the data vary
// (delete-one-block jackknife); neighbouring samples are dependent.
inline constexpr std::size_t blocks = 20;

// A lag counts as seen when it rises above chance by this many standard deviations of the noise.
inline constexpr double noise_threshold = 3;

// The standard error of an estimate from the estimates without each block.
inline double jackknife_error(std::array<double, blocks> const& without) {
  double mean = 0, sum = 0;
  for (double const x : without) mean += x / blocks;
  for (double const x : without) sum += (x - mean) * (x - mean);
  return std::sqrt(sum * (blocks - 1) / blocks);
}

// Half the width of a 95 % interval in such standard errors: Student, 19 degrees of freedom.
inline constexpr double student_95 = 2.093;

struct measured_lag {
  std::int64_t lag = 0;
  std::int64_t pairs = 0;
  double estimate = 0;                   // corrected for the estimator's own bias
  double baseline = 0;                   // the same estimator where there is no dependence
  double chance = 0;                     // standard deviation of the baseline
  std::array<double, blocks> without{};  // the estimate without each block

  double excess() const { return estimate - baseline; }

  double standard_error() const { return jackknife_error(without); }

  double noise() const { return std::max(chance, standard_error()); }
  bool above_noise() const { return excess() > noise_threshold * noise(); }
};

struct measurement {
  std::string quantity;          // "mutual information"
  std::string unit;              // "nats"; empty for a pure number
  std::string baseline_name;     // "shuffled tokens"
  double correlation_power = 1;  // a correlation goes as this power of the quantity
  std::vector<measured_lag> lags;
};

// The lags that count: above the noise, and before the first three lags in a row that are not. A
// later lag above the noise is there by chance and would bend a fit upwards.
inline std::vector<bool> seen(std::vector<measured_lag> const& lags) {
  constexpr int drowned = 3;
  std::vector<bool> result(lags.size());
  int missed = 0;
  for (std::size_t i = 0; i < lags.size() && missed < drowned; ++i) {
    result[i] = lags[i].above_noise();
    missed = result[i] ? 0 : missed + 1;
  }
  return result;
}

// Those lags themselves, from `first` on.
inline std::vector<measured_lag> lags_seen(std::vector<measured_lag> const& lags,
                                           std::int64_t first = 1) {
  std::vector<measured_lag> used;
  auto const counts = seen(lags);
  for (std::size_t i = 0; i < lags.size(); ++i) {
    if (counts[i] && lags[i].lag >= first) used.push_back(lags[i]);
  }
  return used;
}

// Of n items in `blocks` pieces, where piece b begins; piece `blocks` begins at n.
inline std::int64_t block_begin(std::int64_t n, std::size_t b) {
  auto const whole = n / static_cast<std::int64_t>(blocks);
  auto const rest = n % static_cast<std::int64_t>(blocks);
  auto const piece = static_cast<std::int64_t>(b);
  return whole * piece + rest * piece / static_cast<std::int64_t>(blocks);
}

}  // namespace wane::bench
