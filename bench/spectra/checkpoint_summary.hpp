// The report on a checkpoint as a table of layers, and as CSV of heads.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "shared/csv.hpp"
#include "shared/input.hpp"
#include "shared/number_text.hpp"
#include "spectra/checkpoint_report.hpp"
#include "spectra/table.hpp"

namespace wane::bench {

inline std::string held_text(power_law_held const& held) {
  return "l^-" + short_number(held.exponent) + " to " + std::to_string(held.reach);
}

inline std::string layer_table(checkpoint_report const& found) {
  table_cells lines{{"layer", "heads", "channels", "shortest", "median", "longest", "half-life",
                     "covered", "gap", "alike", "distinct", "power law"}};
  for (auto const& one : found.layers) {
    auto const& all = one.whole;
    bool const marked = has_both_units(found) && !one.layer.per_step;
    lines.push_back({printable(one.layer.name) + (marked ? " *" : ""),
                     std::to_string(one.layer.heads), std::to_string(all.channels),
                     short_number(all.shortest), short_number(all.median),
                     short_number(all.longest), short_number(half_life_of(all)),
                     formatted("%.0f %%", 100 * all.covered), formatted("%.3g", all.widest_gap),
                     std::to_string(all.alike), std::to_string(all.distinct), held_text(one.held)});
  }
  return aligned(lines);
}

// Each formula that turned numbers of the files into rates, once.
inline std::vector<std::string> formulas_of(checkpoint_report const& found) {
  std::vector<std::string> formulas;
  for (auto const& one : found.layers) {
    if (std::find(formulas.begin(), formulas.end(), one.layer.formula) == formulas.end()) {
      formulas.push_back(one.layer.formula);
    }
  }
  return formulas;
}

inline std::string summary(checkpoint_report const& found) {
  std::string text = "checkpoint " + in_quotes(found.asked.checkpoint) + ": " +
                     std::to_string(found.layers.size()) + " layer" +
                     (found.layers.size() == 1 ? "" : "s") + " with decays";
  for (auto const& formula : formulas_of(found)) text += "\n  " + printable(formula);
  std::string const t = std::to_string(found.horizon);
  return text +
         "\nrates r where the input adds nothing to the gate; timescales 1/r and the longest "
         "half-life in " +
         unit_of(found) + (has_both_units(found) ? " where marked *" : "") + "\n\n" +
         layer_table(found) + "\ncovered: share of [1, " + t +
         "], on a log axis, between the shortest and the longest timescale\n"
         "gap: the largest factor in [1, " +
         t + "] without a timescale\nalike: pairs of channels of coherence above " +
         short_number(found.asked.coherence) +
         "; distinct: channels left when these count once\n"
         "power law: the one followed farthest, within a tenth, by weights of either sign\n";
}

// One line for each head of each layer.
inline std::string checkpoint_csv(checkpoint_report const& found) {
  std::string text =
      "layer,head,channels,shortest_timescale,median_timescale,longest_timescale,"
      "longest_half_life,channels_within,covered,widest_gap,pairs_alike,distinct\n";
  for (auto const& one : found.layers) {
    for (std::size_t h = 0; h < one.heads.size(); ++h) {
      auto const& head = one.heads[h];
      text += csv_cell(one.layer.name) + ',' + std::to_string(h) + ',' +
              std::to_string(head.channels) + ',' + exact(head.shortest) + ',' +
              exact(head.median) + ',' + exact(head.longest) + ',' + exact(half_life_of(head)) +
              ',' + std::to_string(head.within) + ',' + exact(head.covered) + ',' +
              exact(head.widest_gap) + ',' + std::to_string(head.alike) + ',' +
              std::to_string(head.distinct) + '\n';
    }
  }
  return text;
}

}  // namespace wane::bench
