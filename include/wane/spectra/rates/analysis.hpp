// Measures of a spectrum before any fit: coherence, channels in use at a position, half-lives.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/checks.hpp"

namespace wane::spectra {

//   auto const rates = wane::spectra::geometric(16, wane::spectra::unit_range(4096));
//   double const alike = wane::spectra::largest_coherence(rates);         // 1: two equal channels
//   auto const in_use = wane::spectra::channels_within(rates, 100);       // at position 100
//
// Rates are per step, positive, in any order; duplicates are allowed. All functions throw
// wane::error for others.

// mu = sech(|ln r - ln s| / 2), the cosine of the angle between e^{-rx} and e^{-sx} on x > 0 (PoST,
// Def. 2.3): 1 for equal rates, near 0 for rates far apart.
inline double spectral_coherence(double rate, double other) {
  impl::require_positive(rate, "rate");
  impl::require_positive(other, "other");
  return 1 / std::cosh((std::log(rate) - std::log(other)) / 2);
}

// The cosine of the angle between e^{-rl} and e^{-sl} on the steps l = 0, 1, ... It is larger than
// spectral_coherence, because fast channels differ in their first steps only.
inline double discrete_coherence(double rate, double other) {
  impl::require_positive(rate, "rate");
  impl::require_positive(other, "other");
  return std::sqrt(-std::expm1(-2 * rate)) * std::sqrt(-std::expm1(-2 * other)) /
         -std::expm1(-rate - other);
}

// The largest coherence of two channels; 0 where there is only one.
inline double largest_coherence(std::vector<double> rates) {
  impl::require_rates(rates);
  std::sort(rates.begin(), rates.end());  // the closest pair in ln r is adjacent
  double largest = 0;
  for (std::size_t k = 1; k < rates.size(); ++k)
    largest = std::max(largest, spectral_coherence(rates[k - 1], rates[k]));
  return largest;
}

}  // namespace wane::spectra

namespace wane::spectra::impl {

// Rates whose coherence is at least `coherence` differ by no more than this factor.
inline double factor_of_coherence(double coherence) {
  require(coherence > 0 && coherence < 1, "coherence is ", coherence, "; it must be in (0, 1)");
  return std::exp(2 * std::acosh(1 / coherence));
}

}  // namespace wane::spectra::impl

namespace wane::spectra {

// Rates of which no two have a coherence above `coherence`, slowest first: goes from the slowest
// rate up and keeps each that is far enough from the last one kept.
inline std::vector<double> distinct_rates(std::vector<double> rates, double coherence) {
  impl::require_rates(rates);
  double const factor = impl::factor_of_coherence(coherence);
  std::sort(rates.begin(), rates.end());
  std::vector<double> kept;
  for (double rate : rates)
    if (kept.empty() || rate >= factor * kept.back()) kept.push_back(rate);
  return kept;
}

// The number of pairs of channels with a coherence above `coherence`.
inline std::int64_t pairs_alike(std::vector<double> rates, double coherence) {
  impl::require_rates(rates);
  double const factor = impl::factor_of_coherence(coherence);
  std::sort(rates.begin(), rates.end());
  std::int64_t pairs = 0;
  for (std::size_t i = 0, first = 0; i < rates.size(); ++i) {
    while (rates[i] >= factor * rates[first]) ++first;
    pairs += static_cast<std::int64_t>(i - first);
  }
  return pairs;
}

// The number of channels whose timescale 1/r lies in [1, t], ends included up to rounding.
inline std::int64_t channels_within(std::vector<double> const& rates, std::int64_t position) {
  impl::require_rates(rates);
  impl::require_horizon(position, "position");
  constexpr double rounding = 1e-12;
  auto const t = static_cast<double>(position);
  return std::count_if(rates.begin(), rates.end(), [&](double rate) {
    return rate <= 1 + rounding && rate * t >= 1 - rounding;
  });
}

// N log t / log T: PoST's estimate (Prop. 4.9) of the channels in use at t <= T in a static
// geometric spectrum on [1/T, 1]. The exact number, channels_within(), is floor((N-1) log t / log
// T) + 1.
inline double effective_channels(std::int64_t count, std::int64_t position, std::int64_t horizon) {
  impl::require_count(count, "count");
  impl::require_horizon(position, "position");
  require(horizon >= 2 && horizon <= impl::longest_horizon, "horizon is ", horizon,
          "; it must be from 2 to 2^53 steps, for log T is a divisor");
  return static_cast<double>(count) * std::log(static_cast<double>(position)) /
         std::log(static_cast<double>(horizon));
}

// The variance at `position` of a state that starts at 0 and takes white noise of variance 1 at
// every step, in a channel of taper alpha (0: none): Sum_{m<=t} exp(-2r (H_t - H_m)), added up in
// O(t). About t/(2r+1) for alpha = 1.
inline double state_energy(double rate, double alpha, std::int64_t position) {
  impl::require_positive(rate, "rate");
  require(alpha >= 0 && alpha <= 1, "alpha is ", alpha, "; it must be in [0, 1]");
  constexpr std::int64_t farthest = 1'000'000'000;
  require(position >= 1 && position <= farthest, "position is ", position,
          "; it must be from 1 to 10^9 steps, which are added up one by one");
  double energy = 0;
  for (std::int64_t u = 1; u <= position; ++u)
    energy = 1 + energy * std::exp(-2 * rate * std::pow(static_cast<double>(u), -alpha));
  return energy;
}

// Steps until a channel has lost half of what it held: ln 2 / r.
inline double half_life(double rate) {
  impl::require_positive(rate, "rate");
  return std::numbers::ln2 / rate;
}

inline std::vector<double> half_lives(std::vector<double> const& rates) {
  impl::require_rates(rates);
  std::vector<double> steps;
  for (double rate : rates) steps.push_back(half_life(rate));
  return steps;
}

inline double longest_half_life(std::vector<double> const& rates) {
  impl::require_rates(rates);
  return half_life(*std::min_element(rates.begin(), rates.end()));
}

}  // namespace wane::spectra
