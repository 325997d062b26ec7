// One column of numbers out of a CSV file.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spectra/argument.hpp"
#include "spectra/input.hpp"

namespace wane::bench {

// The cells of a line, without surrounding blanks and double quotes; a comma, a semicolon or a
// tab parts them, whichever the line has first outside quotes.
inline std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  char separator = 0;
  bool inside = false;
  for (char const c : line) {
    bool const parts = separator != 0 ? c == separator : c == ',' || c == ';' || c == '\t';
    if (c == '"') {
      inside = !inside;
    } else if (!inside && parts) {
      separator = c;
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  for (auto& cell : cells) {
    auto const first = cell.find_first_not_of(" \t\r");
    auto const last = cell.find_last_not_of(" \t\r");
    cell = first == std::string::npos ? "" : cell.substr(first, last - first + 1);
  }
  return cells;
}

// A first line with words in it and no number.
inline bool is_heading(std::vector<std::string> const& cells) {
  bool words = false;
  for (auto const& cell : cells) {
    if (number_in(cell)) return false;
    words = words || std::any_of(cell.begin(), cell.end(),
                                 [](unsigned char c) { return std::isalpha(c) || c >= 0x80; });
  }
  return words;
}

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
  for (std::size_t i = 0; heading && i < cells.size(); ++i) {
    if (cells[i] == wanted) return i;
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (wanted == std::to_string(i + 1)) return i;
  }
  throw input_error("--column " + in_quotes(wanted) + " is not in " + file + ", which has " +
                    columns + "; give a number from 1 to " + std::to_string(cells.size()) +
                    (heading ? " or a name from its first line" : ""));
}

inline std::string at_line(std::string const& file, std::size_t line) {
  return file + " line " + std::to_string(line);
}

// The numbers of the column. The first line may be a heading. Blank lines are allowed at the end
// only.
inline std::vector<double> series_in(std::string_view content, std::string const& wanted,
                                     std::string const& file) {
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  while (!content.empty() && std::isspace(static_cast<unsigned char>(content.back()))) {
    content.remove_suffix(1);
  }
  if (content.empty()) throw input_error(file + " is empty; give a column of numbers");
  std::vector<double> values;
  std::size_t columns = 0, column = 0, line = 0;
  for (bool more = true; more;) {
    auto const end = content.find('\n');
    auto const cells = csv_cells(content.substr(0, end));
    more = end != std::string_view::npos;
    if (more) content.remove_prefix(end + 1);
    if (++line == 1) {
      columns = cells.size();
      bool const heading = is_heading(cells);
      column = column_of(cells, heading, wanted, file);
      if (heading) continue;
    }
    if (cells.size() != columns) {
      throw input_error(at_line(file, line) + " has " + std::to_string(cells.size()) +
                        " columns where line 1 has " + std::to_string(columns) +
                        "; every line needs the same");
    }
    auto const value = number_in(cells[column]);
    if (!value || !std::isfinite(*value)) {
      throw input_error(at_line(file, line) + ": " + in_quotes(cells[column].substr(0, 40)) +
                        " is not a finite number; remove the line or fill the gap");
    }
    values.push_back(*value);
  }
  return values;
}

// A series that has an autocorrelation to measure.
inline std::vector<double> read_series(std::string const& path, std::string const& column) {
  std::string const file = "--series " + in_quotes(path);
  std::vector<double> values = series_in(read_file(path, "--series"), column, file);
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
  return values;
}

}  // namespace wane::bench
