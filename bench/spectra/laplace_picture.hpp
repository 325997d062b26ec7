// Laplace nodes as a gnuplot script: half-life against period, as large as the mask leaves them.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <string>

#include "shared/gnuplot.hpp"
#include "shared/number_text.hpp"
#include "spectra/laplace_report.hpp"

namespace wane::bench {

// Where the axes go, in tokens.
struct laplace_axes {
  double shortest = 1, longest = 1;  // half-lives and widths of windows
  double slowest = 2;                // periods
};

inline laplace_axes axes_of(laplace_report const& found) {
  laplace_axes axes;
  auto const include = [&](double tokens) {
    axes.shortest = std::min(axes.shortest, tokens);
    axes.longest = std::max(axes.longest, tokens);
  };
  for (auto const& one : found.layers) {
    if (one.layer.window.shape() != spectra::window_shape::none) include(one.layer.window.width());
    for (auto const& node : one.nodes) {
      include(node.half_life);
      axes.slowest = std::max(axes.slowest, node.period.value_or(2));
    }
  }
  return axes;
}

// Half-life, period, size, layer. Nodes that do not turn lie at `none`.
inline std::string node_points(laplace_report const& found, double none) {
  std::string points;
  for (std::size_t layer = 0; layer < found.layers.size(); ++layer) {
    auto const& one = found.layers[layer];
    for (std::size_t k = 0; k < one.nodes.size(); ++k) {
      points += exact(one.nodes[k].half_life) + ' ' + exact(one.nodes[k].period.value_or(none)) +
                ' ' + exact(0.3 + 1.7 * one.mask(k)) + ' ' + std::to_string(layer) + '\n';
    }
  }
  return points;
}

inline std::string window_lines(laplace_report const& found) {
  std::string lines;
  for (auto const& one : found.layers) {
    if (one.layer.window.shape() == spectra::window_shape::none) continue;
    std::string const width = exact(one.layer.window.width());
    lines += "set arrow from first " + width + ", graph 0 to first " + width +
             ", graph 1 nohead dt 2 lc rgb '#999999'\n";
  }
  return lines;
}

inline std::string picture(laplace_report const& found) {
  auto const axes = axes_of(found);
  double const none = 4 * axes.slowest;
  std::size_t const layers = found.layers.size();
  std::string const name = std::filesystem::path(found.file).filename().string();
  std::ostringstream script;
  script << "set encoding utf8\n"
         << "set terminal svg size 900,620 enhanced font 'Helvetica,14' background rgb 'white'\n"
         << data_block("nodes", node_points(found, none)) << "set title "
         << gnuplot_string("Laplace nodes of " + name) << " font ',18' noenhanced\n"
         << "set border 3\nset tics nomirror\nunset key\nset grid lc rgb '#dddddd' lw 0.5\n"
         << "set xlabel 'half-life (tokens); size: mask; dashed: half width of the window'\n"
         << "set ylabel 'period (tokens)'\nset logscale xy\n"
         << "set xrange [" << exact(axes.shortest / 1.5) << ":" << exact(axes.longest * 1.5)
         << "]\nset yrange [1.5:" << exact(none * 1.5) << "]\nset ytics 1,10,"
         << exact(axes.slowest) << "\nset ytics add ('none' " << exact(none) << ")\n"
         << window_lines(found)
         << "set palette defined (0 '#30105c', 0.35 '#2f6f8f', 0.7 '#3fb573', 1 '#fbe723')\n"
         << (layers == 1
                 ? "set cbrange [0:3]\nunset colorbox\n"
                 : "set cblabel 'layer'\nset cbtics 0," + std::to_string(1 + (layers - 1) / 8) +
                       "\nset cbrange [0:" + std::to_string(layers - 1) + "]\n")
         << "plot $nodes using 1:2:3:4 with points pt 6 lw 1.6 ps variable lc palette\n";
  return script.str();
}

}  // namespace wane::bench
