// The map as a gnuplot script: error against T, a panel for each operator, a curve for each decay.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "error_map/map.hpp"
#include "shared/gnuplot.hpp"
#include "shared/larger.hpp"
#include "shared/number_text.hpp"

namespace wane::bench {

// The largest float error over the cuts by length, of one operator: a curve for each log decay,
// the slowest first. An error of 0 has no place on a log axis.
using error_curves = std::map<double, std::map<index, double>, std::greater<>>;
struct error_panel {
  error_curves errors;
  std::map<index, double> bound;  // the largest of the decays
};
inline std::map<std::string, error_panel> panels_of(std::vector<map_cell> const& cells) {
  std::map<std::string, error_panel> found;
  for (auto const& cell : cells)
    if (cell.io == io_type::float32) {
      auto& panel = found[cell.name];
      double &error = panel.errors[cell.log_decay][cell.tokens], &bound = panel.bound[cell.tokens];
      error = larger(error, cell.error), bound = larger(bound, cell.bound);
    }
  return found;
}
inline std::string points_of(std::map<index, double> const& curve) {
  std::string lines;
  for (auto const& [tokens, error] : curve)
    lines += std::to_string(tokens) + ' ' + (error > 0 ? exact(error) : "NaN") + '\n';
  return lines;
}

inline std::string decay_label(double log_decay) {
  double const lost = -std::expm1(log_decay);
  return lost == 0    ? "1"
         : lost == 1  ? "0"
         : lost < .01 ? "1 - " + formatted("%.0e", lost)
                      : formatted("%.2g", 1 - lost);
}

// A colour for each log decay of an operator that takes some.
class decay_colours {
 public:
  explicit decay_colours(std::map<std::string, error_panel> const& panels) {
    for (auto const& [name, panel] : panels)
      if (panel.errors.size() > 1)
        for (auto const& [log_decay, points] : panel.errors)
          labels_[log_decay] = decay_label(log_decay);
  }
  char const* of(double log_decay) const {
    constexpr char const* colours[] = {"#08306b", "#2171b5", "#6baed6", "#238b45",
                                       "#d95f0e", "#a50f15", "#888888"};
    auto const place = std::distance(labels_.begin(), labels_.find(log_decay));
    return colours[std::min<std::ptrdiff_t>(place, 6)];
  }
  std::string key() const {
    std::string plots;
    for (auto const& [log_decay, label] : labels_)
      plots += "NaN with lines lw 2 lc rgb '" + std::string(of(log_decay)) + "' title " +
               gnuplot_string(label) + ", ";
    return plots + "NaN with lines lw 2 lc rgb '#000000' title 'its own', " +
           "NaN with lines dt 2 lc rgb '#666666' title 'bound'";
  }

 private:
  std::map<double, std::string, std::greater<>> labels_;
};

inline std::string picture_of(std::vector<map_cell> const& cells) {
  auto const panels = panels_of(cells);
  decay_colours const colours(panels);
  index most = 2;
  for (auto const& cell : cells) most = std::max(most, cell.tokens);
  std::size_t const across = 6, down = (panels.size() + across) / across;
  std::size_t blocks = 0;
  std::string data, plots;
  auto const plot = [&](std::map<index, double> const& curve, std::string const& line) {
    std::string const id = "curve" + std::to_string(blocks++);
    data += data_block(id, points_of(curve));
    return '$' + id + " using 1:2 with lines " + line + " notitle";
  };
  for (auto const& [name, panel] : panels) {
    plots += "set title " + gnuplot_string(name) + "\nplot " +
             plot(panel.bound, "dt 2 lc rgb '#666666'");
    for (auto const& [log_decay, points] : panel.errors)
      plots += ", " + plot(points,
                           std::string("lw 2 lc rgb '") +
                               (panel.errors.size() > 1 ? colours.of(log_decay) : "#000000") + "'");
    plots += '\n';
  }
  std::ostringstream script;
  script << "set encoding utf8\nset terminal svg size 1320," << 60 + 180 * down
         << " font 'Helvetica,12' background rgb 'white'\n"
         << data << "set multiplot layout " << down << ',' << across
         << " title 'largest error of the outputs over the tokens, float against double'\n"
         << "set logscale xy\nset xrange [1:" << most << "]\nset yrange [1e-8:1e-3]\n"
         << "set format '10^{%T}'\nset xtics 100\nset ytics 100\nunset mxtics\nunset mytics\n"
         << "set border 3\nset tics nomirror\n"
         << "set title noenhanced\n"
         << plots << "set title 'decay'\nunset border\nunset tics\n"
         << "set key center center samplen 2\nset xrange [1:2]\nset yrange [1:2]\nplot "
         << colours.key() << '\n';
  return script.str();
}

}  // namespace wane::bench
