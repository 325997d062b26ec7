// The comparison as an aligned table, and as CSV with every digit.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "shared/number_text.hpp"
#include "shared/text_table.hpp"
#include "spectra/comparison.hpp"
#include "spectra/measurement.hpp"

namespace wane::bench {

inline std::string comparison_table(std::span<comparison_row const> rows) {
  table_cells lines{{"spectrum", "channels", "lags to", "max abs error", "max rel error",
                     "coherence", "effective", "half-life", "sum |c|"}};
  for (auto const& row : rows) {
    lines.push_back(
        {row.spectrum, std::to_string(row.channels), std::to_string(row.last_lag),
         formatted("%.2e", row.max_absolute_error), formatted("%.2e", row.max_relative_error),
         formatted("%.4f", row.coherence), std::to_string(row.effective_channels),
         formatted("%.4g", row.longest_half_life), formatted("%.3g", row.sum_of_weights())});
  }
  return aligned(lines);
}

// Numbers with blanks between them, one cell.
inline std::string in_a_cell(std::span<double const> numbers) {
  std::string text;
  for (double const x : numbers) text += (text.empty() ? "" : " ") + exact(x);
  return text;
}

inline std::string comparison_csv(std::span<comparison_row const> rows) {
  std::string text =
      "spectrum,channels,last_lag,max_absolute_error,max_relative_error,coherence,"
      "effective_channels,longest_half_life,sum_of_weights,rates,weights\n";
  for (auto const& row : rows) {
    text += row.spectrum + ',' + std::to_string(row.channels) + ',' + std::to_string(row.last_lag) +
            ',' + exact(row.max_absolute_error) + ',' + exact(row.max_relative_error) + ',' +
            exact(row.coherence) + ',' + std::to_string(row.effective_channels) + ',' +
            exact(row.longest_half_life) + ',' + exact(row.sum_of_weights()) + ',' +
            in_a_cell(row.rates) + ',' + in_a_cell(row.weights) + '\n';
  }
  return text;
}

inline std::string measurement_table(measurement const& data) {
  table_cells lines{{"lag", "pairs", data.quantity, "baseline", "noise", "excess", ""}};
  auto const counts = seen(data.lags);
  for (std::size_t i = 0; i < data.lags.size(); ++i) {
    auto const& m = data.lags[i];
    lines.push_back({std::to_string(m.lag), std::to_string(m.pairs), formatted("%.4e", m.estimate),
                     formatted("%.2e", m.baseline), formatted("%.1e", m.noise()),
                     formatted("%.3e", m.excess()),
                     counts[i]         ? ""
                     : m.above_noise() ? "not used: the tail has drowned"
                                       : "not used: noise"});
  }
  return aligned(lines);
}

}  // namespace wane::bench
