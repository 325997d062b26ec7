// The picture as a gnuplot script: the kernel against its fits, and the error against channels.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "shared/gnuplot.hpp"
#include "spectra/report.hpp"
#include "spectra/spectrum_list.hpp"
#include "spectra/summary.hpp"
#include "spectra/table.hpp"
#include "spectra/verdict.hpp"
#include "wane/spectra/fit/fit.hpp"
#include "wane/spectra/fit/lags.hpp"

namespace wane::bench {

inline std::string axis(std::string const& name, std::pair<double, double> const& ends) {
  return "set " + name + "range [" + exact(ends.first) + ":" + exact(ends.second) + "]\n";
}

inline std::vector<std::int64_t> lags_drawn(std::int64_t last) {
  return spectra::log_spaced_lags(last, 16, 400);
}

// One panel: blocks of data, a plot command that names them, and how far the axes go.
class panel {
 public:
  explicit panel(std::string name) : name_(std::move(name)) {}

  std::string data, plot, scale;
  std::pair<double, double> x{1, 1}, y{1, 1};

  // `points` with one "x y" a line; `title` may be empty.
  void add(std::string const& points, std::string const& style, std::string const& title) {
    std::string const block = "$" + name_ + std::to_string(++blocks_);
    data += block + " << END_OF_DATA\n" + points + "END_OF_DATA\n";
    plot += (plot.empty() ? "plot " : ", \\\n  ") + block + " with " + style +
            (title.empty() ? " notitle" : " title " + gnuplot_string(title));
  }

 private:
  std::string name_;
  int blocks_ = 0;
};

// Log axes have nowhere to put zero and less: such points are left out.
inline std::string point(double x, double y) {
  return exact(x) + ' ' + (y > 0 ? exact(y) : "NaN") + '\n';
}

inline void draw_measured(panel& p, measured_input const& input) {
  auto const counts = seen(input.data.lags);
  std::string used, unused, baseline, noise, law;
  double const one = lags_seen(input.data.lags).front().excess();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    auto const& m = input.data.lags[i];
    auto const lag = static_cast<double>(m.lag);
    (counts[i] ? used : unused) += point(lag, m.excess() / one);
    baseline += point(lag, m.baseline / one);
    noise += point(lag, noise_threshold * m.noise() / one);
    if (m.lag >= input.law.first_lag) {
      law += point(lag, input.law.amplitude * std::pow(lag, -input.law.exponent) / one);
    }
    if (m.baseline > 0) p.y.first = std::min(p.y.first, m.baseline / one);
    p.x.second = std::max(p.x.second, lag);
  }
  p.add(used, "points pt 7 ps 0.55 lc rgb 'black'", "measured, less the baseline");
  p.add(unused, "points pt 6 ps 0.45 lc rgb '#aaaaaa'", "not told from noise");
  if (input.forms.front().describes())
    p.add(law, "lines lw 2 dt 2 lc rgb 'black'",
          "exponent " + formatted("%.2f", input.law.exponent) + " [" +
              formatted("%.2f", input.law.low) + ", " + formatted("%.2f", input.law.high) + "]");
  p.add(noise, "lines lw 1.2 lc rgb '#aaaaaa'",
        formatted("%.0f", noise_threshold) + " deviations of noise");
  if (input.kind == "text") {
    p.add(baseline, "lines lw 1.5 dt 3 lc rgb '#777777'", "baseline: " + input.data.baseline_name);
  }
}

inline void draw_kernel(panel& p, target const& goal) {
  std::string points;
  for (std::int64_t const lag : lags_drawn(goal.horizon)) {
    points += point(static_cast<double>(lag), goal.kernel(lag));
  }
  p.add(points, "lines lw 6 lc rgb '#c8c8c8'", goal.name);
}

// As far as the fit stays within a factor of the kernel: how far the spectrum remembers.
constexpr double factor_drawn = 4;

inline void draw_fit(panel& p, comparison_row const& row, target const& goal) {
  std::string points;
  for (std::int64_t const lag : lags_drawn(row.last_lag)) {
    double const value = spectra::impulse_response(row.rates, row.weights, lag);
    double const ratio = value / goal.kernel(lag);
    if (!(ratio > 1 / factor_drawn && ratio < factor_drawn)) break;
    points += point(static_cast<double>(lag), value);
  }
  if (points.empty()) return;
  p.add(points, "lines lw 1.8 lc rgb '" + colour_of(row.spectrum) + "'", "");
}

inline panel kernel_panel(report const& found, std::int64_t channels) {
  panel p("kernel");
  p.x.second = static_cast<double>(found.goal.horizon);
  for (std::int64_t const lag : lags_drawn(found.goal.horizon)) {
    p.y.first = std::min(p.y.first, found.goal.kernel(lag));
  }
  if (!found.input || found.asked.fit_law) draw_kernel(p, found.goal);
  if (found.input) draw_measured(p, *found.input);
  for (auto const& row : found.rows) {
    if (row.channels == channels && row.last_lag == found.goal.horizon) {
      draw_fit(p, row, found.goal);
    }
  }
  p.y = {p.y.first / 3, 2};
  return p;
}

// One curve for each spectrum and last lag; positions short of the horizon are dashed. Where no row
// has an error to show, nothing gives the y axis its ends, and the panel says so.
inline panel error_panel(report const& found) {
  std::vector<std::string> order;
  std::map<std::string, std::string> points, style;
  bool const absolute = found.asked.metric == spectra::metric::absolute;
  bool any = false;
  for (auto const& row : found.rows) {
    bool const at = row.last_lag != found.goal.horizon;
    std::string const name =
        row.spectrum + (at ? ", t = " + std::to_string(row.last_lag) : std::string());
    if (!points.contains(name)) order.push_back(name);
    double const error = absolute ? row.max_absolute_error : row.max_relative_error;
    double const drawn = row.error_says_nothing() ? 0 : error;
    points[name] += point(static_cast<double>(row.channels), drawn);
    any |= drawn > 0;
    auto const which = std::find(found.asked.at.begin(), found.asked.at.end(), row.last_lag);
    auto const dash = std::to_string(2 + (which - found.asked.at.begin()) % 4);
    style[name] = "linespoints lw 1.8 " + (at ? "pt 6 dt " + dash : std::string("pt 7")) +
                  " ps 0.6 lc rgb '" + colour_of(row.spectrum) + "'";
  }
  panel p("error");
  p.x = {static_cast<double>(found.asked.channels.front()) / 1.15,
         static_cast<double>(found.asked.channels.back()) * 1.15};
  if (double const noise = noise_of_errors(found); noise > 0 && any)
    p.add(point(p.x.first, noise) + point(p.x.second, noise), "lines lw 1.5 dt 3 lc rgb '#777777'",
          "noise: no rank below");
  for (auto const& name : order) p.add(points[name], style[name], name);
  p.scale = any ? "set autoscale y\n"
                : axis("y", {1e-3, 1}) +
                      "set label 1 'as many channels as lags: no error to show' at graph 0.5,0.5 "
                      "center\n";
  return p;
}

// A gnuplot script that writes SVG on standard output. Text is shown as it is, but for the powers
// of ten on the axes.
inline std::string picture(report const& found) {
  std::int64_t const shown = found.asked.channels[found.asked.channels.size() / 2];
  panel const kernel = kernel_panel(found, shown), error = error_panel(found);
  bool const absolute = found.asked.metric == spectra::metric::absolute;
  std::string tics;
  for (std::int64_t const n : found.asked.channels) {
    tics += (tics.empty() ? "" : ", ") + std::to_string(n);
  }
  std::ostringstream script;
  script << "set encoding utf8\n"
         << "set terminal svg size 1320,600 enhanced font 'Helvetica,14' background rgb 'white'\n"
         << kernel.data << error.data << "set multiplot title " << gnuplot_string(title_of(found))
         << " font ',18' noenhanced\n"
         << "set logscale xy\nset format '10^{%T}'\nset border 3\nset tics nomirror\n"
         << "set grid lc rgb '#dddddd' lw 0.5\nset lmargin 0\n"
         << "set key top right samplen 2 spacing 1.1 noenhanced\n"
         << "set lmargin at screen 0.065\nset rmargin at screen 0.46\n"
         << "set tmargin at screen 0.84\nset bmargin at screen 0.12\n"
         << "set title 'fits with " << shown << " channels, each drawn while within a factor of "
         << factor_drawn << "'\nset xlabel 'lag (steps)'\nset ylabel "
         << gnuplot_string(found.input
                               ? found.input->data.quantity + " / that at lag " +
                                     std::to_string(lags_seen(found.input->data.lags).front().lag)
                               : std::string("weight of the lag"))
         << " noenhanced\n"
         << axis("x", kernel.x) << axis("y", kernel.y) << kernel.plot << "\n"
         << "set lmargin at screen 0.545\nset rmargin at screen 0.80\n"
         << "set title 'error of the best fit'\nset xlabel 'channels'\n"
         << "set ylabel 'largest " << (absolute ? "absolute" : "relative") << " error'\n"
         << axis("x", error.x) << error.scale << "set format x '%g'\nset xtics (" << tics
         << ")\nset mxtics 1\n"
         << "set key outside right center reverse Left samplen 2 spacing 1.25\n"
         << error.plot << "\nunset multiplot\n";
  return script.str();
}

}  // namespace wane::bench
