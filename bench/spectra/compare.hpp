// The rows of the comparison: fits of each selected spectrum at each number of channels.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "shared/parallel.hpp"
#include "shared/progress.hpp"
#include "spectra/comparison.hpp"
#include "spectra/options.hpp"
#include "spectra/rates.hpp"
#include "spectra/spectrum_list.hpp"
#include "spectra/target.hpp"
#include "wane/spectra/fit/fit.hpp"
#include "wane/spectra/rates/analysis.hpp"

namespace wane::bench {

// What a row is about; `last_lag` is the horizon, or a position of --at.
struct row_wanted {
  std::string spectrum;
  std::int64_t channels = 0;
  std::int64_t last_lag = 0;
};

// Spectrum by spectrum, position by position, channels within.
inline std::vector<row_wanted> rows_wanted(options const& asked, std::int64_t horizon) {
  std::vector<row_wanted> rows;
  for (auto const& name : asked.spectra) {
    std::vector<std::int64_t> const whole{horizon};
    for (std::int64_t const last : is_positional(name) ? asked.at : whole) {
      for (std::int64_t const n : asked.channels) rows.push_back({name, n, last});
    }
  }
  return rows;
}

inline comparison_row compared(row_wanted const& wanted, target const& goal, options const& asked,
                               std::uint64_t seed) {
  auto const rates =
      rates_of(wanted.spectrum, wanted.channels, wanted.last_lag, goal, asked.metric, seed);
  auto const fit = spectra::fit(rates, goal.kernel, wanted.last_lag, asked.metric);
  return {.spectrum = wanted.spectrum,
          .channels = wanted.channels,
          .last_lag = wanted.last_lag,
          .max_absolute_error = fit.max_absolute_error,
          .max_relative_error = fit.max_relative_error,
          .coherence = spectra::largest_coherence(rates),
          .effective_channels = spectra::channels_within(rates, wanted.last_lag),
          .longest_half_life = spectra::longest_half_life(rates),
          .rates = rates,
          .weights = fit.weights};
}

// A random spectrum is drawn five times; the row is the draw whose error is the median.
inline comparison_row typical_draw(row_wanted const& wanted, target const& goal,
                                   options const& asked) {
  std::array<comparison_row, 5> draws;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    draws[i] = compared(wanted, goal, asked, asked.seed + i);
  }
  bool const absolute = asked.metric == spectra::metric::absolute;
  auto const middle = draws.begin() + draws.size() / 2;
  std::nth_element(draws.begin(), middle, draws.end(), [&](auto const& a, auto const& b) {
    return absolute ? a.max_absolute_error < b.max_absolute_error
                    : a.max_relative_error < b.max_relative_error;
  });
  return *middle;
}

inline std::vector<comparison_row> compare(options const& asked, target const& goal,
                                           progress& shown) {
  auto const wanted = rows_wanted(asked, goal.horizon);
  std::vector<comparison_row> rows(wanted.size());
  shown.begin("fitting spectra", wanted.size());
  for_each_task(wanted.size(), asked.threads, [&](std::size_t i) {
    rows[i] = is_random(wanted[i].spectrum) ? typical_draw(wanted[i], goal, asked)
                                            : compared(wanted[i], goal, asked, asked.seed);
    shown.advance();
  });
  return rows;
}

}  // namespace wane::bench
