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
// have the same pairs or a model is tested at several lengths; or tests in their order, where a
// model has several at one length.
enum class picture_axis { pairs, tokens, tests };

inline picture_axis axis_of(std::vector<measured> const& rows) {
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

// Lines are means over all tests at a place, with bars from the least to the largest where there
// are several (seeds); those of the paper are dashed and of the same colour. Texts are drawn in
// bits.
inline std::string picture_of(std::vector<measured> const& rows) {
  static char const* const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                        "#56b4e9", "#000000", "#999999", "#7f5f00"};
  bool const text = rows[0].of.trained_on().name == "text";
  picture_axis const axis = axis_of(rows);
  bool same_task = true;
  for (measured const& m : rows)
    same_task &= description_of(m.of.trained_on()) == description_of(rows[0].of.trained_on());
  struct place {
    std::vector<double> values;
    double paper = NAN;
  };
  std::vector<std::string> memories, names;
  auto const number_of = [](std::vector<std::string>& all, std::string const& name) {
    auto const found = std::find(all.begin(), all.end(), name);
    if (found != all.end()) return found - all.begin();
    all.push_back(name);
    return std::ssize(all) - 1;
  };
  std::map<std::string, std::map<index, place>> lines;
  for_each_test(rows, [&](measured const& m, test const& t, score const& s) {
    number_of(memories, m.of.model.memory);
    std::string name = t.name.empty() ? "fresh" : t.name;
    if (!same_task) name = description_of(t.of) + "\\n" + name;
    index const x = axis == picture_axis::tests    ? number_of(names, name)
                    : axis == picture_axis::tokens ? t.of.time
                                                   : t.of.pairs;
    place& at = lines[m.of.model.memory][x];
    at.values.push_back(text ? bits_of(s) : s.accuracy()), at.paper = t.paper;
  });
  std::string blocks, plots;
  for (std::size_t i = 0; i < memories.size(); ++i) {
    std::string const number = std::to_string(i), colour = colours[i % std::size(colours)];
    std::string points, printed;
    for (auto const& [x, at] : lines[memories[i]]) {
      double mean = 0;
      for (double const v : at.values) mean += v / static_cast<double>(at.values.size());
      auto const [low, high] = std::minmax_element(at.values.begin(), at.values.end());
      points += std::to_string(x) + ' ' + bench::exact(mean) + ' ' + bench::exact(*low) + ' ' +
                bench::exact(*high) + '\n';
      if (!std::isnan(at.paper)) printed += std::to_string(x) + ' ' + bench::exact(at.paper) + '\n';
    }
    auto const line = [&](std::string const& block, std::string const& of, std::string const& style,
                          std::string const& title) {
      blocks += bench::data_block(block, of);
      plots += (plots.empty() ? "plot $" : ", \\\n  $") + block + " with " + style + " lc rgb '" +
               colour + "' " + title;
    };
    line("measured" + number, points, "yerrorlines lw 2 pt 7",
         "title " + bench::gnuplot_string(memories[i]));
    if (!printed.empty()) line("printed" + number, printed, "linespoints dt 2 pt 6", "notitle");
  }
  std::string x_axis = axis == picture_axis::tokens
                           ? "set xlabel 'tokens of a sequence'\nset logscale x 2\n"
                           : "set xlabel 'pairs of a key and a value'\n";
  if (axis == picture_axis::tests) {
    x_axis = "set xrange [-0.3:" + std::to_string(names.size()) + " - 0.7]\nset xtics (";
    for (std::size_t n = 0; n < names.size(); ++n)
      x_axis += (n ? ", " : "") + bench::gnuplot_string(names[n]) + ' ' + std::to_string(n);
    x_axis += ")\n";
  }
  return "set terminal svg size 760,420 font 'sans-serif,12' noenhanced background '#ffffff'\n"
         "set key outside right\nset grid lc rgb '#dddddd'\n" +
         x_axis +
         (text ? "set ylabel 'bits a character'\n"
               : "set yrange [-0.02:1.02]\nset ylabel 'answers that are right'\n") +
         "set title 'solid: measured, bars: all seeds; dashed: the paper'\n" + blocks + plots +
         "\n";
}

}  // namespace wane::recall
