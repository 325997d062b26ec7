// The rates of each named spectrum, made for a target's horizon.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "spectra/target.hpp"
#include "wane/spectra/rates/best_linear_spacing.hpp"
#include "wane/spectra/rates/best_range.hpp"
#include "wane/spectra/rates/geometric.hpp"
#include "wane/spectra/rates/linear.hpp"
#include "wane/spectra/rates/post.hpp"
#include "wane/spectra/rates/post_initial.hpp"
#include "wane/spectra/rates/random.hpp"
#include "wane/spectra/rates/retnet.hpp"
#include "wane/spectra/rates/rwkv7_initial.hpp"

namespace wane::bench {

// A channel without decay gets a rate of 1e-9, because a rate must be positive.
inline std::vector<double> rates_of_sum(std::int64_t channels, target const& goal,
                                        spectra::metric metric) {
  auto rates = goal.sum_of(channels, metric).rates;
  for (double& rate : rates) rate = std::max(rate, 1e-9 / static_cast<double>(goal.horizon));
  return rates;
}

// Of the layer at half the depth, slowest channel first.
inline std::vector<double> rwkv7_own_rates(std::int64_t channels) {
  auto rates = spectra::rwkv7_rates(spectra::rwkv7_initial_logits(
      channels, std::clamp<std::int64_t>(channels, 2, 64), {.layer = 1, .layers = 3}));
  std::sort(rates.begin(), rates.end());
  return rates;
}

// Rates per step of the spectrum called `name`, at `position` if it depends on one.
inline std::vector<double> rates_of(std::string const& name, std::int64_t channels,
                                    std::int64_t position, target const& goal,
                                    spectra::metric metric, std::uint64_t seed) {
  std::int64_t const horizon = goal.horizon;
  if (name == "random-log-uniform") return spectra::random_log_uniform(channels, horizon, seed);
  if (name == "random-uniform") return spectra::random_uniform(channels, horizon, seed);
  if (name == "linear") return spectra::linear(channels);
  if (name == "hippo-legs") return spectra::hippo_legs(channels, horizon);
  if (name == "linear-best") {
    double const spacing = spectra::best_linear_spacing(channels, horizon, goal.kernel, metric);
    return spectra::linear(channels, spacing);
  }
  if (name == "geometric") return spectra::geometric(channels, spectra::unit_range(horizon));
  if (name == "geometric-wide") return spectra::geometric(channels, spectra::wide_range(horizon));
  if (name == "geometric-best") {
    return spectra::geometric(channels,
                              spectra::best_range(channels, horizon, goal.kernel, metric));
  }
  if (name == "soe") return rates_of_sum(channels, goal, metric);
  if (name == "retnet") return spectra::retnet(channels);
  if (name == "retnet-fixed") return spectra::retnet_fixed_span(channels);
  if (name == "rwkv7") {
    return spectra::rwkv7_rates(
        spectra::rwkv7_logits(channels, std::max<std::int64_t>(3, horizon)));
  }
  if (name == "rwkv7-own") return rwkv7_own_rates(channels);
  auto const base = spectra::geometric(channels, spectra::wide_range(horizon));
  if (name == "post-static") return base;
  if (name == "post") return spectra::covering_rates(base, horizon, position);
  throw std::logic_error("no rates for " + name);
}

}  // namespace wane::bench
