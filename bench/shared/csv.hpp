// The cells of a CSV file: which separator, which line is a heading.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "shared/argument.hpp"
#include "shared/input.hpp"

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

// A name as a cell.
inline std::string csv_cell(std::string const& name) {
  std::string quoted;
  for (char const c : printable(name)) quoted += c == '"' ? "\"\"" : std::string(1, c);
  bool const plain = quoted.find_first_of(",;\"") == std::string::npos;
  return plain ? quoted : '"' + quoted + '"';
}

struct csv_line {
  std::size_t number;  // from 1
  bool is_heading;
  std::vector<std::string> cells;
};

// Calls seen(line) for each line. Refuses an empty file and lines of unequal length; blank lines
// are allowed at the end only. `file` names it in messages.
template <class Seen>
void for_each_csv_line(std::string_view content, std::string const& file, Seen const& seen) {
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  while (!content.empty() && std::isspace(static_cast<unsigned char>(content.back()))) {
    content.remove_suffix(1);
  }
  if (content.empty()) throw input_error(file + " is empty; give a column of numbers");
  std::size_t columns = 0, number = 0;
  for (bool more = true; more;) {
    auto const end = content.find('\n');
    csv_line line{++number, false, csv_cells(content.substr(0, end))};
    more = end != std::string_view::npos;
    if (more) content.remove_prefix(end + 1);
    if (number == 1) {
      columns = line.cells.size();
      line.is_heading = is_heading(line.cells);
    }
    if (line.cells.size() != columns) {
      throw input_error(file + " line " + std::to_string(number) + " has " +
                        std::to_string(line.cells.size()) + " columns where line 1 has " +
                        std::to_string(columns) + "; every line needs the same");
    }
    seen(line);
  }
}

inline double finite_number(csv_line const& line, std::size_t column, std::string const& file) {
  auto const value = number_in(line.cells[column]);
  if (!value || !std::isfinite(*value)) {
    throw input_error(file + " line " + std::to_string(line.number) + ": " +
                      in_quotes(line.cells[column].substr(0, 40)) +
                      " is not a finite number; remove the line or fill the gap");
  }
  return *value;
}

}  // namespace wane::bench
