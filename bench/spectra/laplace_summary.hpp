// The report on Laplace nodes as a table, and as CSV with every digit.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "shared/csv.hpp"
#include "shared/input.hpp"
#include "shared/number_text.hpp"
#include "spectra/laplace_report.hpp"
#include "spectra/table.hpp"

namespace wane::bench {

// "encoder.3: 16 nodes, 9.31 left by the mask, window hann of half width 64".
inline std::string line_of(laplace_layer const& layer) {
  std::size_t const nodes = layer.nodes.sigma.size();
  std::string text = layer.name.empty() ? "" : printable(layer.name) + ": ";
  text += std::to_string(nodes) + (nodes == 1 ? " node" : " nodes");
  if (!layer.mask.empty()) {
    text += ", " + short_number(std::accumulate(layer.mask.begin(), layer.mask.end(), 0.0)) +
            " left by the mask";
  }
  auto const shape = layer.window.shape();
  if (shape == spectra::window_shape::none) return text + ", no window";
  return text + ", window " + name_of(shape) + " of half width " +
         short_number(layer.window.width());
}

inline std::string node_table(laplace_layer_report const& one) {
  table_cells lines{{"node", "half-life", "period", "sigma", "omega", "mask", "mean lag", "cut"}};
  for (std::size_t k = 0; k < one.nodes.size(); ++k) {
    auto const& node = one.nodes[k];
    lines.push_back({std::to_string(k), short_number(node.half_life),
                     node.period ? short_number(*node.period) : "none",
                     short_number(one.layer.nodes.sigma[k]), short_number(one.layer.nodes.omega[k]),
                     one.layer.mask.empty() ? "none" : short_number(one.mask(k)),
                     short_number(node.mean_lag), formatted("%.1f %%", 100 * node.cut)});
  }
  return aligned(lines);
}

inline std::string summary(laplace_report const& found) {
  std::string text = "Laplace nodes of " + in_quotes(found.file) + "\n";
  for (auto const& one : found.layers) {
    text += "\n" + line_of(one.layer) + "\n" + node_table(one);
  }
  return text +
         "\nhalf-life, period and mean lag in tokens; sigma and omega per unit of time\n"
         "mean lag: of the past as w(l) |r|^l weights it; cut: the share of |r|^l, over all lags, "
         "that the window w takes away\n";
}

inline std::string laplace_csv(laplace_report const& found) {
  std::string text = "layer,node,half_life,period,sigma,omega,mask,mean_lag,cut\n";
  for (auto const& one : found.layers) {
    for (std::size_t k = 0; k < one.nodes.size(); ++k) {
      auto const& node = one.nodes[k];
      text += csv_cell(one.layer.name) + ',' + std::to_string(k) + ',' + exact(node.half_life) +
              ',' + (node.period ? exact(*node.period) : "") + ',' +
              exact(one.layer.nodes.sigma[k]) + ',' + exact(one.layer.nodes.omega[k]) + ',' +
              exact(one.mask(k)) + ',' + exact(node.mean_lag) + ',' + exact(node.cut) + '\n';
    }
  }
  return text;
}

}  // namespace wane::bench
