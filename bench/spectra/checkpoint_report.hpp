// The timescales of a trained model and the power laws that they can follow, by layer and by head.
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
#include "shared/input.hpp"
#include "shared/parallel.hpp"
#include "shared/progress.hpp"
#include "spectra/options.hpp"
#include "wane/spectra/fit/fit.hpp"
#include "wane/spectra/fit/kernels.hpp"
#include "wane/spectra/fit/lags.hpp"
#include "wane/spectra/rates/analysis.hpp"

namespace wane::bench {

// Timescales 1/r of some channels, in steps, and how they lie in [1, T].
struct timescale_report {
  std::int64_t channels = 0;
  double shortest = 0, median = 0, longest = 0;
  std::int64_t within = 0;    // channels whose timescale lies in [1, T]
  double covered = 0;         // the share of [1, T], on a log axis, from shortest to longest
  double widest_gap = 0;      // the largest factor in [1, T] without a timescale
  std::int64_t distinct = 0;  // channels left when collapsed ones count once
  std::int64_t alike = 0;     // pairs whose coherence is above the threshold
};

// The longest, in steps.
inline double half_life_of(timescale_report const& found) {
  return spectra::half_life(1 / found.longest);
}

// The power law that weights of either sign on rates_of_use follow farthest: within a tenth on
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
  std::size_t shown = 0;  // the layer whose timescales the picture has
};

// Whether some timescales are in steps, and others in units of the step size.
inline bool has_both_units(checkpoint_report const& found) {
  auto const other = [&](auto const& one) {
    return one.layer.per_step != found.layers.front().layer.per_step;
  };
  return std::any_of(found.layers.begin(), found.layers.end(), other);
}
inline std::string unit_of(checkpoint_report const& found) {
  if (has_both_units(found)) return "steps, or units of the step size";
  return found.layers.front().layer.per_step ? "steps" : "units of the step size";
}

// --layer: a name, or a number from 1; without it the layer in the middle.
inline std::size_t layer_shown(checkpoint_report const& found) {
  std::string const& wanted = found.asked.layer;
  if (wanted.empty()) return found.layers.size() / 2;
  for (std::size_t i = 0; i < found.layers.size(); ++i)
    if (found.layers[i].layer.name == wanted || std::to_string(i + 1) == wanted) return i;
  std::string names;
  for (auto const& one : found.layers)
    names += (names.empty() ? "" : ", ") + in_quotes(one.layer.name);
  throw input_error("--layer " + in_quotes(wanted) +
                    " is no layer of the checkpoint; give one of " + names +
                    ", or a number from 1 to " + std::to_string(found.layers.size()));
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
  found.distinct = std::ssize(spectra::distinct_rates(rates, coherence));
  found.alike = spectra::pairs_alike(rates, coherence);
  return found;
}

// One rate for each group with a coherence above 0.99. Within lags 1..T, rates below 0.001/T cannot
// be told apart, nor can rates above 40.
inline std::vector<double> rates_of_use(std::vector<double> rates, std::int64_t horizon) {
  for (double& rate : rates) rate = std::clamp(rate, 1e-3 / static_cast<double>(horizon), 40.0);
  return spectra::distinct_rates(rates, 0.99);
}

// The reach of a power law. `lags` begin with 1.
inline std::int64_t reach_of_law(std::vector<double> const& rates, double exponent,
                                 std::vector<std::int64_t> const& lags) {
  auto const followed = [&](std::int64_t lag) {
    auto const fit =
        spectra::fit(rates, spectra::power_law(exponent), lag, spectra::metric::relative);
    return fit.max_relative_error <= 0.1;
  };
  // One channel fits one lag exactly.
  return *(std::partition_point(lags.begin() + 1, lags.end(), followed) - 1);
}

inline power_law_held power_law_of(std::vector<double> const& all, std::int64_t horizon) {
  auto const rates = rates_of_use(all, horizon);
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
  found.held = power_law_of(layer.rates, horizon);
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
  found.shown = layer_shown(found);
  return found;
}

}  // namespace wane::bench
