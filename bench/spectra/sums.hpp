// The fewest exponentials for an accuracy, by each construction: terms, time, certificate.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "shared/input.hpp"
#include "shared/number_text.hpp"
#include "spectra/options.hpp"
#include "spectra/table.hpp"
#include "spectra/target.hpp"

namespace wane::bench {

struct sum_row {
  std::string construction;
  spectra::exponential_sum sum;
  double seconds = 0;   // of the second of two runs, certificate and all
  std::string refusal;  // not empty: there is no such sum, and this says why
};

inline std::vector<sum_row> find_sums(options const& asked, target const& goal) {
  std::vector<sum_row> rows;
  if (!asked.accuracy) return rows;
  for (auto const& [name, sum_to] : goal.constructions) {
    try {
      (void)sum_to(*asked.accuracy, asked.metric);
      auto const start = std::chrono::steady_clock::now();
      auto sum = sum_to(*asked.accuracy, asked.metric);
      std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - start;
      rows.push_back({name, std::move(sum), taken.count(), ""});
    } catch (wane::error const& problem) {
      rows.push_back({name, {}, 0, problem.what()});
    }
  }
  return rows;
}

inline double certified(sum_row const& row, spectra::metric metric) {
  return metric == spectra::metric::absolute ? row.sum.error.max_absolute_error
                                             : row.sum.error.max_relative_error;
}

inline std::string sums_table(std::vector<sum_row> const& rows, options const& asked) {
  bool const absolute = asked.metric == spectra::metric::absolute;
  table_cells lines{{"construction", "terms", "certified", "at lag", "feed-through", "ms"}};
  std::string refused;
  for (auto const& row : rows) {
    if (!row.refusal.empty()) {
      refused += row.construction + ": " + printable(row.refusal) + "\n";
      continue;
    }
    auto const& error = row.sum.error;
    lines.push_back({row.construction, std::to_string(row.sum.terms()),
                     formatted("%.2e", certified(row, asked.metric)),
                     std::to_string(absolute ? error.worst_absolute_lag : error.worst_relative_lag),
                     formatted("%.4f", row.sum.feed_through()),
                     formatted("%.2f", 1e3 * row.seconds)});
  }
  return std::string("\nfewest exponentials whose ") + (absolute ? "absolute" : "relative") +
         " error is at most " + formatted("%.3g", *asked.accuracy) +
         (asked.has_data() && !asked.fit_law ? " on the lags above the noise\n\n"
                                             : " on every lag\n\n") +
         (lines.size() > 1 ? aligned(lines) : "") + refused;
}

}  // namespace wane::bench
