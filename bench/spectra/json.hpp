// The report as JSON: the numbers of the table with every digit, the measured lags, the fits.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "spectra/report.hpp"
#include "spectra/verdict.hpp"
#include "wane/version.hpp"

namespace wane::bench {

// Keeps the order in which things are said.
using ordered_json = nlohmann::ordered_json;

inline ordered_json json_of(measured_input const& input) {
  ordered_json lags = ordered_json::array();
  auto const counts = seen(input.data.lags);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    auto const& m = input.data.lags[i];
    lags.push_back({{"lag", m.lag},
                    {"pairs", m.pairs},
                    {"estimate", m.estimate},
                    {"baseline", m.baseline},
                    {"noise", m.noise()},
                    {"excess", m.excess()},
                    {"used", static_cast<bool>(counts[i])}});
  }
  ordered_json result{{"kind", input.kind}, {"files", input.files}, {"size", input.size}};
  if (!input.column.empty()) result["column"] = input.column;
  if (input.symbols > 0) result["symbols"] = input.symbols;
  result["quantity"] = input.data.quantity;
  result["unit"] = input.data.unit;
  result["baseline"] = input.data.baseline_name;
  result["power_law"] = {{"exponent", input.law.exponent},
                         {"low", input.law.low},
                         {"high", input.law.high},
                         {"level", 0.95},
                         {"amplitude", input.law.amplitude},
                         {"sampling_error", input.law.sampling_error},
                         {"misfit_error", input.law.misfit_error},
                         {"first_lag", input.law.first_lag},
                         {"last_lag", input.law.last_lag},
                         {"lags_used", input.law.lags_used}};
  result["forms"] = ordered_json::array();
  for (auto const& form : input.forms) {
    ordered_json of{{"form", form.name}, {"misfit", form.misfit}, {"describes", form.describes()}};
    if (form.name == "power law") of["exponent"] = form.exponent;
    if (!form.rates.empty()) of["rates"] = form.rates;
    result["forms"].push_back(of);
  }
  result["lags"] = lags;
  return result;
}

inline ordered_json json_of(comparison_row const& row) {
  return {{"spectrum", row.spectrum},
          {"channels", row.channels},
          {"last_lag", row.last_lag},
          {"max_absolute_error", row.max_absolute_error},
          {"max_relative_error", row.max_relative_error},
          {"coherence", row.coherence},
          {"effective_channels", row.effective_channels},
          {"longest_half_life", row.longest_half_life},
          {"sum_of_weights", row.sum_of_weights()},
          {"rates", row.rates},
          {"weights", row.weights}};
}

inline ordered_json json_of(sum_row const& row) {
  if (!row.refusal.empty()) return {{"construction", row.construction}, {"refusal", row.refusal}};
  return {{"construction", row.construction},
          {"terms", row.sum.terms()},
          {"certified_relative_error", row.sum.error.max_relative_error},
          {"worst_relative_lag", row.sum.error.worst_relative_lag},
          {"certified_absolute_error", row.sum.error.max_absolute_error},
          {"worst_absolute_lag", row.sum.error.worst_absolute_lag},
          {"lags_evaluated", row.sum.error.lags_evaluated},
          {"samples_only", row.sum.error.samples_only},
          {"feed_through", row.sum.feed_through()},
          {"seconds", row.seconds},
          {"rates", row.sum.rates},
          {"weights", row.sum.weights}};
}

inline ordered_json program_json() {
  return {{"program", "wane-spectra"},
          {"version", std::to_string(version_major) + "." + std::to_string(version_minor) + "." +
                          std::to_string(version_patch)}};
}

// A file name that is not UTF-8 has the wrong bytes replaced.
inline std::string text_of(ordered_json const& document) {
  return document.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

inline std::string json_text(report const& found) {
  bool const absolute = found.asked.metric == spectra::metric::absolute;
  ordered_json document = program_json();
  document["target"] = found.goal.name;
  document["horizon"] = found.goal.horizon;
  document["metric"] = absolute ? "absolute" : "relative";
  document["seed"] = found.asked.seed;
  if (found.input) document["measured"] = json_of(*found.input);
  document["rows"] = ordered_json::array();
  for (auto const& row : found.rows) document["rows"].push_back(json_of(row));
  if (found.fewest)
    document["fewest"] = {{"rates", found.fewest->rates}, {"weights", found.fewest->weights}};
  if (comparison_row const* const best = advised(found))
    document["advised"] = {{"spectrum", best->spectrum},
                           {"channels", best->channels},
                           {"noise", noise_of_errors(found)},
                           {"rates", best->rates}};
  if (found.asked.accuracy) {
    document["accuracy"] = *found.asked.accuracy;
    for (auto const& row : found.sums) document["sums"].push_back(json_of(row));
  }
  return text_of(document);
}

}  // namespace wane::bench
