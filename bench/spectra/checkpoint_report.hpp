// What the decays of a trained model can remember: by layer and by head.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/decay_layers.hpp"
#include "spectra/options.hpp"
#include "spectra/parallel.hpp"
#include "spectra/progress.hpp"
#include "wane/spectra/analysis.hpp"
#include "wane/spectra/fit.hpp"
#include "wane/spectra/kernels.hpp"
#include "wane/spectra/lags.hpp"

namespace wane::bench {

// Timescales 1/r of some channels, in steps, and how they lie in [1, T].
struct timescale_report {
  std::int64_t channels = 0;
  double shortest = 0, median = 0, longest = 0;
  std::int64_t within = 0;     // channels whose timescale lies in [1, T]
  double covered = 0;          // the share of log T from the shortest of these to the longest
  double widest_gap = 0;       // the largest factor in [1, T] without a timescale
  std::int64_t distinct = 0;   // channels left when collapsed ones count once
  std::int64_t collapsed = 0;  // pairs whose coherence is above the threshold
};

// The power law that weights of either sign on the channels follow farthest: within a tenth on
// lags 1..reach. Of 0.25, 0.5, ..., 1.5, the steepest of equals.
struct power_law_held {
  double exponent = 0;
  std::int64_t reach = 0;
};

struct layer_report {
  decay_layer layer;
  timescale_report whole;
  std::vector<timescale_report> heads;
  power_law_held held;
};

struct checkpoint_report {
  options asked;
  std::int64_t horizon = 0;
  std::vector<layer_report> layers;
};

// `rates` ascending. Channels are alike when ln r differs by less than this: coherence is
// sech(difference / 2).
inline double log_width_of(double coherence) { return 2 * std::acosh(1 / coherence); }

// One channel of each group that is alike, from the slowest on.
inline std::vector<double> distinct_of(std::span<double const> rates, double coherence) {
  double const factor = std::exp(log_width_of(coherence));
  std::vector<double> kept;
  for (double const rate : rates) {
    if (kept.empty() || rate >= factor * kept.back()) kept.push_back(rate);
  }
  return kept;
}

inline std::int64_t pairs_alike(std::span<double const> rates, double coherence) {
  double const factor = std::exp(log_width_of(coherence));
  std::int64_t pairs = 0;
  for (std::size_t i = 0, first = 0; i < rates.size(); ++i) {
    while (rates[i] >= factor * rates[first]) ++first;
    pairs += static_cast<std::int64_t>(i - first);
  }
  return pairs;
}

inline timescale_report timescales_of(std::vector<double> rates, std::int64_t horizon,
                                      double coherence) {
  std::sort(rates.begin(), rates.end());
  auto const t = static_cast<double>(horizon);
  std::size_t const half = rates.size() / 2;
  double const middle =
      rates.size() % 2 == 1 ? rates[half] : std::sqrt(rates[half - 1] * rates[half]);
  timescale_report found{.channels = std::ssize(rates),
                         .shortest = 1 / rates.back(),
                         .median = 1 / middle,
                         .longest = 1 / rates.front(),
                         .within = spectra::channels_within(rates, horizon)};
  double last = t;  // the timescale above
  for (double const rate : rates) {
    double const timescale = std::clamp(1 / rate, 1.0, t);
    found.widest_gap = std::max(found.widest_gap, last / timescale);
    last = timescale;
  }
  found.widest_gap = std::max(found.widest_gap, last);
  double const from = std::clamp(found.shortest, 1.0, t), to = std::clamp(found.longest, 1.0, t);
  found.covered = std::log(to / from) / std::log(t);
  found.distinct = std::ssize(distinct_of(rates, coherence));
  found.collapsed = pairs_alike(rates, coherence);
  return found;
}

// Within lags 1..T nothing tells rates below these apart, nor those above.
inline std::vector<double> rates_of_use(std::vector<double> rates, std::int64_t horizon,
                                        double coherence) {
  for (double& rate : rates) rate = std::clamp(rate, 1e-3 / static_cast<double>(horizon), 40.0);
  std::sort(rates.begin(), rates.end());
  return distinct_of(rates, coherence);
}

// `lags` from 1 on.
inline std::int64_t reach_of_law(std::vector<double> const& rates, double exponent,
                                 std::vector<std::int64_t> const& lags) {
  auto const followed = [&](std::int64_t lag) {
    auto const fit =
        spectra::fit(rates, spectra::power_law(exponent), lag, spectra::metric::relative);
    return fit.max_relative_error <= 0.1;
  };
  // One channel meets one lag.
  return *(std::partition_point(lags.begin() + 1, lags.end(), followed) - 1);
}

inline power_law_held power_law_of(std::vector<double> const& all, std::int64_t horizon,
                                   double coherence) {
  auto const rates = rates_of_use(all, horizon, coherence);
  auto const lags = spectra::log_spaced_lags(horizon, 8, 80);
  power_law_held held;
  for (int quarters = 1; quarters <= 6; ++quarters) {
    std::int64_t const reach = reach_of_law(rates, quarters / 4.0, lags);
    if (reach >= held.reach) held = {quarters / 4.0, reach};
  }
  return held;
}

inline layer_report report_on(decay_layer layer, options const& asked, std::int64_t horizon) {
  layer_report found;
  auto const channels = static_cast<std::size_t>(layer.channels);
  for (std::size_t h = 0; h < static_cast<std::size_t>(layer.heads); ++h) {
    auto const head = std::span(layer.rates).subspan(h * channels, channels);
    found.heads.push_back(timescales_of({head.begin(), head.end()}, horizon, asked.coherence));
  }
  found.whole = timescales_of(layer.rates, horizon, asked.coherence);
  found.held = power_law_of(layer.rates, horizon, asked.coherence);
  found.layer = std::move(layer);
  return found;
}

inline checkpoint_report report_on_checkpoint(options const& asked, progress& shown) {
  checkpoint_report found{
      .asked = asked, .horizon = asked.horizon.value_or(usual_horizon), .layers = {}};
  checkpoint const files(asked.checkpoint);
  auto layers = decay_layers(files, asked.layers);
  found.layers.resize(layers.size());
  shown.begin("reading layers", layers.size());
  for_each_task(layers.size(), asked.threads, [&](std::size_t i) {
    found.layers[i] = report_on(std::move(layers[i]), asked, found.horizon);
    shown.advance();
  });
  return found;
}

}  // namespace wane::bench
