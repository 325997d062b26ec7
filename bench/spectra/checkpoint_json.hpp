// The report on a checkpoint as JSON: the table, every head, every rate.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spectra/checkpoint_report.hpp"
#include "spectra/json.hpp"

namespace wane::bench {

inline ordered_json json_of(timescale_report const& found) {
  return {{"channels", found.channels},
          {"shortest_timescale", found.shortest},
          {"median_timescale", found.median},
          {"longest_timescale", found.longest},
          {"longest_half_life", half_life_of(found)},
          {"channels_within", found.within},
          {"covered", found.covered},
          {"widest_gap", found.widest_gap},
          {"pairs_alike", found.alike},
          {"distinct", found.distinct}};
}

inline ordered_json json_of(layer_report const& found) {
  ordered_json layer = {{"name", found.layer.name}, {"formula", found.layer.formula}};
  layer.update(json_of(found.whole));
  layer["power_law"] = {{"exponent", found.held.exponent}, {"reach", found.held.reach}};
  layer["heads"] = ordered_json::array();
  auto const channels = static_cast<std::size_t>(found.layer.channels);
  for (std::size_t h = 0; h < found.heads.size(); ++h) {
    ordered_json head = json_of(found.heads[h]);
    auto const rates = std::span(found.layer.rates).subspan(h * channels, channels);
    head["rates"] = std::vector<double>(rates.begin(), rates.end());
    layer["heads"].push_back(std::move(head));
  }
  return layer;
}

inline std::string json_text(checkpoint_report const& found) {
  ordered_json document = program_json();
  document["checkpoint"] = found.asked.checkpoint;
  document["horizon"] = found.horizon;
  document["coherence"] = found.asked.coherence;
  for (auto const& layer : found.layers) document["layers"].push_back(json_of(layer));
  return text_of(document);
}

}  // namespace wane::bench
