// The report on Laplace nodes as JSON.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "spectra/json.hpp"
#include "spectra/laplace_report.hpp"

namespace wane::bench {

inline ordered_json json_of(laplace_layer_report const& found) {
  auto const& [name, nodes, window, mask] = found.layer;
  ordered_json layer = {{"name", name}, {"step", nodes.step}, {"window", name_of(window.shape())}};
  if (window.shape() != spectra::window_shape::none) layer["width"] = window.width();
  for (std::size_t k = 0; k < found.nodes.size(); ++k) {
    auto const& node = found.nodes[k];
    layer["nodes"].push_back({{"half_life", node.half_life},
                              {"period", node.period ? ordered_json(*node.period) : nullptr},
                              {"sigma", nodes.sigma[k]},
                              {"omega", nodes.omega[k]},
                              {"mask", mask.empty() ? nullptr : ordered_json(mask[k])},
                              {"mean_lag", node.mean_lag},
                              {"cut", node.cut}});
  }
  return layer;
}

inline std::string json_text(laplace_report const& found) {
  ordered_json document = program_json();
  document["laplace"] = found.file;
  for (auto const& layer : found.layers) document["layers"].push_back(json_of(layer));
  return text_of(document);
}

}  // namespace wane::bench
