// From the options to the target of the fit: a kernel in closed form, or measured data.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "shared/input.hpp"
#include "shared/progress.hpp"
#include "spectra/options.hpp"
#include "spectra/report.hpp"
#include "spectra/series.hpp"
#include "spectra/series_measurement.hpp"
#include "spectra/text.hpp"
#include "spectra/text_measurement.hpp"
#include "wane/spectra/fit/lags.hpp"

namespace wane::bench {

// With data of `length` steps: at most half of them, by default a tenth.
inline std::int64_t horizon_for(options const& asked, std::int64_t length) {
  std::int64_t const most = length / 2;
  std::int64_t const horizon = asked.horizon.value_or(std::min(usual_horizon, length / 10));
  if (horizon > most) {
    throw input_error("--horizon " + std::to_string(horizon) + " is too long for data of " +
                      std::to_string(length) + " steps; give at most half, " +
                      std::to_string(most));
  }
  if (asked.fit_from > horizon) {
    throw input_error("--fit-from " + std::to_string(asked.fit_from) +
                      " is beyond the horizon; give at most " + std::to_string(horizon));
  }
  return horizon;
}

// Every lag up to 8, then 14 to a factor of ten.
inline std::vector<std::int64_t> lags_to_measure(std::int64_t horizon) {
  constexpr std::int64_t dense = 8;
  double const decades = std::log10(static_cast<double>(std::max(horizon, dense + 1)) / dense);
  return spectra::log_spaced_lags(horizon, dense,
                                  static_cast<std::int64_t>(std::ceil(14 * decades)));
}

inline measured_input measured_text(options const& asked, std::int64_t& horizon, progress& shown) {
  corpus const source = read_corpus(asked.text);
  horizon = horizon_for(asked, source.longest());
  auto const lags = lags_to_measure(horizon);
  return {.kind = "text",
          .files = asked.text,
          .size = source.tokens(),
          .symbols = static_cast<std::int64_t>(source.symbols),
          .data = measure_text(source, lags, asked.seed, asked.threads, shown),
          .law = {}};
}

inline measured_input measured_series(options const& asked, std::int64_t& horizon,
                                      progress& shown) {
  auto const [name, values] = read_series(asked.series, asked.column);
  horizon = horizon_for(asked, std::ssize(values));
  auto const lags = lags_to_measure(horizon);
  return {.kind = "series",
          .files = {asked.series},
          .column = name,
          .size = std::ssize(values),
          .data = measure_series(values, lags, asked.threads, shown),
          .law = {}};
}

inline target law_target(measured_input const& input, std::int64_t horizon) {
  double const beta = input.law.exponent;
  if (!(beta > 0)) {
    throw input_error("--fit-to law: the fitted exponent is " + short_number(beta) +
                      ", which does not decay; fit to the measured lags instead");
  }
  return power_target(beta, horizon);
}

inline void require_positions(options& asked, std::int64_t horizon) {
  if (asked.at.empty()) {
    asked.at = {std::max<std::int64_t>(2, std::llround(std::sqrt(static_cast<double>(horizon))))};
  }
  for (std::int64_t const t : asked.at) {
    if (asked.has_data() && !asked.fit_law && t > horizon) {
      throw input_error("--at " + std::to_string(t) +
                        " is beyond the last lag that rises above the noise; give at most " +
                        std::to_string(horizon) + ", or --fit-to law");
    }
  }
}

// A report that lacks its rows.
inline report measured(options const& asked, progress& shown) {
  report found{.asked = asked, .goal = {}, .input = {}, .rows = {}, .sums = {}};
  std::int64_t horizon = asked.horizon.value_or(usual_horizon);
  if (asked.kernel) {
    bool const power = asked.kernel->kind == kernel_kind::power;
    found.goal = power ? power_target(asked.kernel->parameter, horizon)
                       : gruenwald_letnikov_target(asked.kernel->parameter, horizon);
  } else {
    auto input = asked.text.empty() ? measured_series(asked, horizon, shown)
                                    : measured_text(asked, horizon, shown);
    input.law = fit_power_law(input.data, asked.fit_from);
    input.forms = decay_forms(lags_seen(input.data.lags, asked.fit_from));
    found.goal = asked.fit_law ? law_target(input, horizon) : measured_target(input.data);
    found.input = std::move(input);
  }
  require_positions(found.asked, found.goal.horizon);
  return found;
}

}  // namespace wane::bench
