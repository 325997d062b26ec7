// The printed summary: the input, the measurement, the law, the comparison.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

#include "spectra/report.hpp"
#include "spectra/table.hpp"
#include "spectra/verdict.hpp"

namespace wane::bench {

// "'load.csv', column 'cpu'": the files, and where one has columns, that which was read.
inline std::string source_of(measured_input const& input) {
  return in_quotes(input.files) +
         (input.column.empty() ? "" : ", column " + in_quotes(input.column));
}

// The one line that says what was fitted.
inline std::string heading(report const& found) {
  std::string const steps = ", lags 1 to " + std::to_string(found.goal.horizon);
  if (!found.input) return found.goal.name + steps;
  return found.input->data.quantity + " of " + source_of(*found.input) + steps;
}

// The same for a picture, without directories.
inline std::string title_of(report const& found) {
  report brief{.asked = {}, .goal = found.goal, .input = found.input, .rows = {}, .sums = {}};
  if (brief.input) {
    std::string& file = brief.input->files.front();
    file = std::filesystem::path(file).filename().string();
  }
  return heading(brief);
}

inline std::string described(measured_input const& input) {
  bool const text = input.kind == "text";
  auto const& law = input.law;
  std::string result =
      input.kind + " " + source_of(input) + ": " + std::to_string(input.size) +
      (text ? " tokens (bytes), " + std::to_string(input.symbols) + " symbols" : " numbers") +
      "\n" + input.data.quantity + (text ? " in " + input.data.unit : "") + ", " +
      (text ? "bias-corrected (Miller-Madow); baseline: tokens shuffled in each text"
            : "mean removed, divided by the number of pairs; baseline: white noise") +
      "\n\n" + measurement_table(input.data) + "\npower law: exponent " +
      formatted("%.3f", law.exponent) + ", 95 % interval [" + formatted("%.3f", law.low) + ", " +
      formatted("%.3f", law.high) + "], amplitude " + formatted("%.3g", law.amplitude) +
      (text ? " " + input.data.unit : "") + ", through " + std::to_string(law.lags_used) +
      " lags from " + std::to_string(law.first_lag) + " to " + std::to_string(law.last_lag) +
      "\n  (standard error " + formatted("%.3f", law.sampling_error) +
      " from leaving out each of " + std::to_string(blocks) + " blocks, " +
      formatted("%.3f", law.misfit_error) +
      " from the residuals; the larger makes the interval)\n\n" +
      "misfit: squares of the residuals of a lag, in units of its noise or of 5 % of its "
      "excess\n\n" +
      forms_table(input.forms) + "\n" + form_sentence(input.forms) + "\n";
  return result;
}

inline std::string fitted_to(report const& found) {
  if (!found.input || found.asked.fit_law) return "target: " + heading(found) + "\n";
  auto const used = lags_seen(found.input->data.lags);
  return "target: the " + std::to_string(used.size()) +
         " lags above the noise (excess over the baseline, divided by that at lag " +
         std::to_string(used.front().lag) +
         "),\nstraight on log axes in between; spectra are made for the last of them, T = " +
         std::to_string(found.goal.horizon) + "\n";
}

// The rows on the whole horizon, or the others.
inline std::vector<comparison_row> rows_of(report const& found, bool whole) {
  std::vector<comparison_row> rows;
  for (auto const& row : found.rows)
    if (!is_positional(row.spectrum) == whole) rows.push_back(row);
  return rows;
}

inline std::string summary(report const& found) {
  std::string text = found.input ? described(*found.input) + "\n" : "";
  bool const absolute = found.asked.metric == spectra::metric::absolute;
  text += fitted_to(found) + "weights of either sign make the largest " +
          (absolute ? "absolute" : "relative") + " error small; half-lives in steps\n\n" +
          comparison_table(rows_of(found, true));
  auto const positional = rows_of(found, false);
  if (!positional.empty())
    text +=
        "\nfitted on lags 1 to t for the positions t of --at\n\n" + comparison_table(positional);
  if (std::any_of(found.rows.begin(), found.rows.end(),
                  [](comparison_row const& row) { return row.error_says_nothing(); })) {
    text += "rows with as many channels as lags pass through every lag: their errors say nothing\n";
  }
  if (!found.sums.empty()) text += sums_table(found.sums, found.asked);
  if (found.asked.rates) text += rates_list(found.rows);
  return text + "\n" + advice(found);
}

}  // namespace wane::bench
