// The octaves as a gnuplot script: J of each, and their sum as the window grows.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <span>
#include <sstream>
#include <string>

#include "shared/gnuplot.hpp"
#include "shared/number_text.hpp"
#include "spectra/octaves/report.hpp"

namespace wane::bench {

// sigma, J, and the ends of its interval. What is not above 0 has no place on a log axis.
inline std::string octave_points(octave_report const& of, double least) {
  std::string points;
  for (auto const& octave : of.found.octaves) {
    double const j = octave.information(), reach = octave.reach();
    if (j <= 0) continue;
    points += std::to_string(octave.sigma) + ' ' + exact(j) + ' ' +
              exact(std::max(j - reach, least)) + ' ' + exact(j + reach) + '\n';
  }
  return points;
}

// The window, the sum of its octaves, and the sum with log growth.
inline std::string sum_points(octave_report const& of) {
  double sum = 0;
  auto const& octaves = of.found.octaves;
  double const each = of.total() / static_cast<double>(octaves.size());
  std::string points = "1 0 0\n";
  for (std::size_t i = 0; i < octaves.size(); ++i) {
    sum += octaves[i].information();
    points += std::to_string(octaves[i].window) + ' ' + exact(sum) + ' ' +
              exact(each * static_cast<double>(i + 1)) + '\n';
  }
  return points;
}

inline std::string picture(octave_report const& of) {
  double most = 1e-6;
  for (auto const& octave : of.found.octaves) {
    most = std::max(most, octave.information() + octave.reach());
  }
  double least = most;
  for (auto const& octave : of.found.octaves) {
    if (octave.information() > 0) least = std::min(least, octave.information());
  }
  least /= 3;
  std::string const points = octave_points(of, least);
  std::string const last = std::to_string(of.found.octaves.back().window);
  std::span<measured_octave const> const octaves(of.found.octaves);
  std::size_t const from = equal_from(octaves);
  std::string const file = std::filesystem::path(of.files.front()).filename().string();
  std::ostringstream script;
  script << "set encoding utf8\n"
         << "set terminal svg size 1200,560 enhanced font 'Helvetica,14' background rgb 'white'\n"
         << data_block("octaves", points.empty() ? "1 NaN NaN NaN\n" : points)
         << data_block("sums", sum_points(of)) << "set multiplot layout 1,2 title "
         << gnuplot_string("octave-band predictive information of " + file)
         << " font ',18' noenhanced\n"
         << "set border 3\nset tics nomirror\nset grid lc rgb '#dddddd' lw 0.5\n"
         << "set logscale x 2\nset xrange [0.7:" << last << "]\nset format x '%g'\nset xtics 1,8\n"
         << "set logscale y\nset yrange [" << exact(least) << ":" << exact(most * 2) << "]\n"
         << "set xlabel 'sigma (symbols)'\nset ylabel 'J(sigma), bits a symbol'\n"
         << "set key top right samplen 2\n"
         << "plot $octaves using 1:2:3:4 with yerrorbars pt 7 ps 0.7 lw 1.5 lc rgb '#0b3c78' "
            "title 'measured, 95 %'";
  if (from < octaves.size()) {
    double const usual = equipartition_of(octaves.subspan(from)).usual;
    script << ", (x >= " << octaves[from].sigma << " ? " << exact(usual)
           << " : NaN) with lines lw 2 dt 2 lc rgb '#901818' title 'J0 = "
           << formatted("%.3g", usual) << " from " << octaves[from].sigma << " on'";
  }
  script << "\nunset logscale y\nset yrange [0:*]\nset xlabel 'window (symbols)'\n"
         << "set ylabel 'sum of the octaves, bits a symbol'\nset key bottom right samplen 2\n"
         << "plot $sums using 1:2 with linespoints pt 7 ps 0.6 lw 1.8 lc rgb '#0b3c78' title "
            "'measured', $sums using 1:3 with lines lw 2 dt 2 lc rgb '#901818' title "
            "'log growth'\nunset multiplot\n";
  return script.str();
}

}  // namespace wane::bench
