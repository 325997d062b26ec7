// The timescales of a checkpoint as a gnuplot script, after PoST's Figures 1 and 2.
// SPDX-License-Identifier: MIT
//
// The distribution of timescales, those of one layer, and a map of layers by heads.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <numbers>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "shared/gnuplot.hpp"
#include "shared/number_text.hpp"
#include "spectra/checkpoint_report.hpp"

namespace wane::bench {

// In decades.
inline std::pair<double, double> ends_of_timescales(checkpoint_report const& found) {
  std::pair<double, double> ends{0, std::log10(static_cast<double>(found.horizon))};
  for (auto const& one : found.layers) {
    ends.first = std::min(ends.first, std::log10(one.whole.shortest));
    ends.second = std::max(ends.second, std::log10(one.whole.longest));
  }
  return ends;
}

inline constexpr double bandwidth = 0.1;  // decades, of the density

// "timescale density": how many of all channels there are to a decade, smoothed by a normal curve.
inline std::string density_points(checkpoint_report const& found,
                                  std::pair<double, double> const& ends) {
  constexpr std::size_t cells = 400;
  double const begin = ends.first - 0.5, width = (ends.second + 0.5 - begin) / cells;
  std::array<double, cells> count{};
  double all = 0;
  for (auto const& one : found.layers) {
    for (double const rate : one.layer.rates) {
      count[static_cast<std::size_t>((-std::log10(rate) - begin) / width)] += 1;
      all += 1;
    }
  }
  std::string points;
  for (std::size_t i = 0; i < cells; ++i) {
    double density = 0;
    for (std::size_t j = 0; j < cells; ++j) {
      double const apart = (static_cast<double>(i) - static_cast<double>(j)) * width / bandwidth;
      density += count[j] * std::exp(-apart * apart / 2);
    }
    density /= all * bandwidth * std::sqrt(2 * std::numbers::pi);
    points += exact(std::pow(10, begin + (static_cast<double>(i) + 0.5) * width)) + ' ' +
              exact(density) + '\n';
  }
  return points;
}

// Rank, from the shortest, and timescale. Where there are many channels, only some are drawn.
inline std::string rank_points(layer_report const& one) {
  std::vector<double> rates = one.layer.rates;
  std::sort(rates.begin(), rates.end(), std::greater<>());
  std::size_t const step = 1 + rates.size() / 500;
  std::string points;
  for (std::size_t i = 0; i < rates.size(); i += step) {
    points += std::to_string(i + 1) + ' ' + exact(1 / rates[i]) + '\n';
  }
  return points;
}

inline std::size_t most_heads(checkpoint_report const& found) {
  std::size_t most = 0;
  for (auto const& one : found.layers) most = std::max(most, one.heads.size());
  return most;
}

// The step from one drawn head to the next; above 1 where there are many.
inline std::size_t head_step(checkpoint_report const& found) { return 1 + most_heads(found) / 500; }

// A line for each layer, the logarithm of each head's median timescale on it.
inline std::string map_rows(checkpoint_report const& found) {
  std::string rows;
  for (auto const& one : found.layers) {
    for (std::size_t h = 0; h < most_heads(found); h += head_step(found)) {
      rows += (h == 0 ? "" : " ") +
              (h < one.heads.size() ? exact(std::log10(one.heads[h].median)) : "NaN");
    }
    rows += '\n';
  }
  return rows;
}

// An axis of cells 0..count-1, from its low end or from its high one.
inline std::string cell_axis(std::string const& name, std::size_t count, bool from_low) {
  std::string const low = "-0.5", high = std::to_string(count - 1) + ".5";
  return "set " + name + "range [" + (from_low ? low + ":" + high : high + ":" + low) + "]\nset " +
         name + "tics 0," + std::to_string(1 + (count - 1) / 8) + "\n";
}

inline std::string picture(checkpoint_report const& found) {
  auto const ends = ends_of_timescales(found);
  layer_report const& shown = found.layers[found.shown];
  std::string const timescale = "timescale (" + unit_of(found) + ")";
  std::string const file =
      std::filesystem::path(found.asked.checkpoint.front()).filename().string();
  std::string const range = "[" + exact(std::pow(10, ends.first - 0.3)) + ":" +
                            exact(std::pow(10, ends.second + 0.3)) + "]";
  std::ostringstream script;
  script << "set encoding utf8\n"
         << "set terminal svg size 1500,560 enhanced font 'Helvetica,14' background rgb 'white'\n"
         << data_block("density", density_points(found, ends))
         << data_block("rank", rank_points(shown)) << data_block("map", map_rows(found))
         << "set multiplot title " << gnuplot_string("timescales of " + file)
         << " font ',18' noenhanced\nset border 3\nset tics nomirror\nunset key\n"
         << "set grid lc rgb '#dddddd' lw 0.5\nset tmargin at screen 0.84\n"
         << "set bmargin at screen 0.13\nset lmargin at screen 0.05\nset rmargin at screen 0.31\n"
         << "set title 'all layers, smoothed over " << short_number(bandwidth)
         << " decades'\nset xlabel '" << timescale
         << "'\nset ylabel 'share of channels to a decade'\n"
         << "set logscale x\nset format x '10^{%T}'\nset xrange " << range << "\n"
         << "plot $density with filledcurves y1=0 lc rgb '#9ecbf0', $density with lines lw 1.8 "
            "lc rgb '#0b3c78'\n"
         << "set lmargin at screen 0.38\nset rmargin at screen 0.62\nset title "
         << gnuplot_string(shown.layer.name) << " noenhanced\n"
         << "set xlabel 'channel, by timescale'\nset ylabel '" << timescale << "'\n"
         << "unset logscale x\nset format x '%g'\nset autoscale x\nset logscale y\n"
         << "set format y '10^{%T}'\nset yrange " << range << "\n"
         << "plot $rank with points pt 7 ps 0.4 lc rgb '#1a8f4c'\n"
         << "set lmargin at screen 0.68\nset rmargin at screen 0.92\nunset logscale y\nunset grid\n"
         << "set format y '%g'\n"
         << cell_axis("x", most_heads(found), true) << cell_axis("y", found.layers.size(), false)
         << "set title 'median of each head'\nset xlabel 'head'\nset ylabel 'layer'\n"
         << "set format cb '10^{%g}'\nset cbrange [" << exact(ends.first) << ":"
         << exact(ends.second) << "]\n"
         << "set palette defined (0 '#30105c', 0.35 '#2f6f8f', 0.7 '#3fb573', 1 '#fbe723')\n"
         << "plot $map matrix using ($1*" << head_step(found)
         << "):2:3 with image pixels\nunset multiplot\n";
  return script.str();
}

}  // namespace wane::bench
