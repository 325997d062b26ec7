// Accuracies as a gnuplot script, one line for each memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "recall/report.hpp"
#include "shared/gnuplot.hpp"

namespace wane::recall {

// What a picture has on its x axis: the pairs of an experiment; the tokens of a sequence, where all
// have the same pairs or a model is tested at several lengths; tests in their order, where a model
// has several at one length; or the bytes of the state, where models have several numbers of heads.
enum class picture_axis { pairs, tokens, tests, state };

inline picture_axis axis_of(std::vector<measured> const& rows) {
  std::map<std::string, index> heads;  // by memory and task
  for (measured const& m : rows) {
    std::string const name = m.of.model.memory + ' ' + description_of(m.of.trained_on());
    if (heads.try_emplace(name, m.of.model.heads).first->second != m.of.model.heads)
      return picture_axis::state;
  }
  bool same_pairs = true;
  int const pairs = rows[0].of.trained_on().pairs;
  for (auto const& [of, found] : rows) {
    if (of.tests.size() > 1)
      return of.tests[0].of.time == of.tests[1].of.time ? picture_axis::tests
                                                        : picture_axis::tokens;
    same_pairs &= of.trained_on().pairs == pairs;
  }
  return same_pairs ? picture_axis::tokens : picture_axis::pairs;
}

struct curve_point {
  std::vector<double> values;
  double paper = NAN;
};
// By memory and by place on the x axis.
using curves = std::map<std::string, std::map<index, curve_point>>;

// The curves of a panel as a plot command; adds their numbers to `blocks`, whose names begin with
// `name`.
inline std::string plot_of(curves const& of, std::string const& name, std::string& blocks) {
  static char const* const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                        "#56b4e9", "#000000", "#999999", "#7f5f00"};
  std::string plot;
  std::size_t number = 0;
  for (auto const& [memory, points] : of) {
    std::string measured, printed;
    for (auto const& [x, at] : points) {
      double mean = 0;
      for (double const v : at.values) mean += v / static_cast<double>(at.values.size());
      auto const [low, high] = std::minmax_element(at.values.begin(), at.values.end());
      measured += std::to_string(x) + ' ' + bench::exact(mean) + ' ' + bench::exact(*low) + ' ' +
                  bench::exact(*high) + '\n';
      if (!std::isnan(at.paper)) printed += std::to_string(x) + ' ' + bench::exact(at.paper) + '\n';
    }
    std::string const colour = colours[number % std::size(colours)],
                      last = name + std::to_string(number++);
    auto const add = [&](std::string const& block, std::string const& values,
                         std::string const& style) {
      blocks += bench::data_block(block, values);
      plot += (plot.empty() ? "plot $" : ", \\\n  $") + block + " with " + style + " lc rgb '" +
              colour + "' ";
    };
    add("measured" + last, measured, "yerrorlines lw 2 pt 7");
    plot += "title " + bench::gnuplot_string(memory);
    if (printed.empty()) continue;
    add("printed" + last, printed, "linespoints dt 2 pt 6");
    plot += "notitle";
  }
  return plot + '\n';
}

// Lines are means over all tests at a place, with bars from the least to the largest where there
// are several (seeds); those of the paper are dashed and of the same colour. Texts are drawn in
// bits. Tasks, and tests where the state is the x axis, have a panel each.
inline std::string picture_of(std::vector<measured> const& rows) {
  bool const text = rows[0].of.trained_on().name == "text";
  picture_axis const axis = axis_of(rows);
  std::vector<std::string> tests, titles;
  auto const number_of = [](std::vector<std::string>& all, std::string const& name) {
    auto const found = std::find(all.begin(), all.end(), name);
    if (found != all.end()) return found - all.begin();
    all.push_back(name);
    return std::ssize(all) - 1;
  };
  std::map<index, curves> panels;
  for_each_test(rows, [&](measured const& m, test const& t, tested const& found) {
    std::string const name = t.name.empty() ? "fresh" : t.name,
                      title = axis == picture_axis::state   ? name
                              : axis == picture_axis::pairs ? ""
                                                            : description_of(m.of.trained_on());
    index const x = axis == picture_axis::state    ? found.state.bytes
                    : axis == picture_axis::tests  ? number_of(tests, name)
                    : axis == picture_axis::tokens ? t.of.time
                                                   : t.of.pairs;
    if (axis == picture_axis::state && x == 0) return;  // not known
    curve_point& at = panels[number_of(titles, title)][m.of.model.memory][x];
    at.values.push_back(text ? bits_of(found.found) : found.found.accuracy()), at.paper = t.paper;
  });
  std::string blocks, plots;
  for (auto const& [panel, lines] : panels) {
    if (panels.size() > 1)
      plots += "set title " + bench::gnuplot_string(titles[static_cast<std::size_t>(panel)]) + '\n';
    plots += plot_of(lines, std::to_string(panel) + '_', blocks);
  }
  std::string axes, title = "title 'solid: measured, bars: all seeds; dashed: the paper'";
  if (axis == picture_axis::tests) {
    axes = "set xrange [-0.3:" + std::to_string(tests.size()) + " - 0.7]\nset xtics (";
    for (std::size_t n = 0; n < tests.size(); ++n)
      axes += (n ? ", " : "") + bench::gnuplot_string(tests[n]) + ' ' + std::to_string(n);
    axes += ")\n";
  } else if (axis == picture_axis::pairs) {
    axes = "set xlabel 'pairs of a key and a value'\n";
  } else {
    axes = axis == picture_axis::tokens
               ? "set xlabel 'tokens of a sequence'\nset logscale x 2\n"
               : "set xlabel 'bytes of the state'\nset logscale x 2\nset format x '%.0s%c'\n";
  }
  if (panels.size() > 1)
    plots = "set multiplot layout " + std::to_string((panels.size() + 1) / 2) + ",2 " + title +
            '\n' + plots + "unset multiplot\n";
  else
    plots = "set " + title + '\n' + plots;
  return "set terminal svg size " + std::string(panels.size() > 1 ? "1100,760" : "760,420") +
         " font 'sans-serif,12' noenhanced background '#ffffff'\n"
         "set key outside right\nset grid lc rgb '#dddddd'\n" +
         axes +
         (text ? "set ylabel 'bits a character'\n"
               : "set yrange [-0.02:1.02]\nset ylabel 'answers that are right'\n") +
         blocks + plots;
}

}  // namespace wane::recall
