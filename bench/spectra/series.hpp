// One column of numbers out of a CSV file.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/csv.hpp"
#include "shared/input.hpp"

namespace wane::bench {

// Which column `wanted` is: a name in the heading, or a number from 1. With one column it may be
// left empty.
inline std::size_t column_of(std::vector<std::string> const& cells, bool heading,
                             std::string const& wanted, std::string const& file) {
  std::string const columns =
      std::to_string(cells.size()) + " column" + (cells.size() == 1 ? "" : "s");
  if (wanted.empty()) {
    if (cells.size() == 1) return 0;
    throw input_error(file + " has " + columns + "; choose one with --column " +
                      (heading ? "'" + cells[0] + "' (its name) or --column 1" : "1 (its number)"));
  }
  if (auto const named = heading ? std::ranges::count(cells, wanted) : 0) {
    if (named > 1) {
      throw input_error("--column " + in_quotes(wanted) + " names " + std::to_string(named) +
                        " columns of " + file + "; give its number, from 1");
    }
    return static_cast<std::size_t>(std::ranges::find(cells, wanted) - cells.begin());
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (wanted == std::to_string(i + 1)) return i;
  }
  throw input_error("--column " + in_quotes(wanted) + " is not in " + file + ", which has " +
                    columns + "; give a number from 1 to " + std::to_string(cells.size()) +
                    (heading ? " or a name from its first line" : ""));
}

struct series {
  std::string name;  // that of its column; without a heading its number, where it is one of several
  std::vector<double> values;
};

// The numbers of the column. The first line may be a heading.
inline series series_in(std::string_view content, std::string const& wanted,
                        std::string const& file) {
  series found;
  std::size_t column = 0;
  csv_numbers number_at(file);
  for_each_csv_line(content, file, [&](csv_line const& line) {
    if (line.number == 1) {
      column = column_of(line.cells, line.is_heading, wanted, file);
      if (line.is_heading) {
        found.name = line.cells[column];
      } else if (line.cells.size() > 1) {
        found.name = std::to_string(column + 1);
      }
    }
    if (!line.is_heading) found.values.push_back(number_at(line, column));
  });
  return found;
}

// A series that has an autocorrelation to measure.
inline series read_series(std::string const& path, std::string const& column) {
  std::string const file = "--series " + in_quotes(path);
  series const found = series_in(read_file(path, "--series"), column, file);
  std::vector<double> const& values = found.values;
  constexpr std::size_t fewest = 64;
  if (values.size() < fewest) {
    throw input_error(file + " has " + std::to_string(values.size()) +
                      " numbers; an autocorrelation needs at least " + std::to_string(fewest));
  }
  auto const [low, high] = std::minmax_element(values.begin(), values.end());
  if (*low == *high) {
    throw input_error(file + " is constant; an autocorrelation needs values that vary");
  }
  double const largest = std::max(std::abs(*low), std::abs(*high));
  if (largest > 1e150) {
    throw input_error(file + " has a value of size " + std::to_string(largest) +
                      "; rescale it: squares must stay finite");
  }
  return found;
}

}  // namespace wane::bench
