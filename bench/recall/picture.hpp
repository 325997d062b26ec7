// Accuracies as a gnuplot script: against the number of pairs, one line for each memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "recall/report.hpp"
#include "shared/gnuplot.hpp"

namespace wane::recall {

// Measured accuracies are solid; those of the paper, where it has the memory, dashed and of the
// same colour. Where all models have the same number of pairs, the lengths of sequences are drawn.
inline std::string picture_of(std::vector<measured> const& rows) {
  static char const* const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                        "#56b4e9", "#000000", "#999999", "#7f5f00"};
  bool by_length = true;
  for (measured const& m : rows) by_length &= m.of.train.pairs == rows[0].of.train.pairs;
  std::vector<std::string> memories;
  std::map<std::string, std::string> measured_lines, printed_lines;
  for (auto const& [of, found] : rows) {
    std::string const& name = of.model.memory;
    if (std::find(memories.begin(), memories.end(), name) == memories.end())
      memories.push_back(name);
    std::string const x =
        by_length ? std::to_string(of.train.time) : std::to_string(of.train.pairs);
    measured_lines[name] += x + ' ' + bench::exact(found.fresh.accuracy()) + '\n';
    if (!std::isnan(of.paper)) printed_lines[name] += x + ' ' + bench::exact(of.paper) + '\n';
  }
  std::string blocks, plots;
  for (std::size_t i = 0; i < memories.size(); ++i) {
    std::string const number = std::to_string(i), colour = colours[i % std::size(colours)];
    auto const line = [&](std::string const& block, std::string const& points,
                          std::string const& style) {
      blocks += bench::data_block(block, points);
      plots += (plots.empty() ? "plot $" : ", \\\n  $") + block +
               " with linespoints lw 2 lc rgb '" + colour + "' " + style;
    };
    line("measured" + number, measured_lines[memories[i]],
         "pt 7 title " + bench::gnuplot_string(memories[i]));
    if (!printed_lines[memories[i]].empty())
      line("printed" + number, printed_lines[memories[i]], "dt 2 pt 6 notitle");
  }
  return "set terminal svg size 760,420 font 'sans-serif,12' noenhanced background '#ffffff'\n"
         "set key outside right\nset grid lc rgb '#dddddd'\nset yrange [-0.02:1.02]\n"
         "set ylabel 'answers that are right'\nset xlabel '" +
         std::string(by_length ? "tokens of a sequence" : "pairs of a key and a value") +
         "'\nset title 'solid: measured; dashed: the paper'\n" + blocks + plots + "\n";
}

}  // namespace wane::recall
