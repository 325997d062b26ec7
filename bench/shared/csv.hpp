// The cells of a CSV file: its separator, its heading, and decimal commas.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/argument.hpp"
#include "shared/input.hpp"

namespace wane::bench {

// Takes the next line off a text. Lines end in LF, CR LF or CR.
inline std::string_view next_line(std::string_view& text) {
  auto const end = std::min(text.find_first_of("\r\n"), text.size());
  std::string_view const line = text.substr(0, end);
  text.remove_prefix(end);
  text.remove_prefix(text.starts_with("\r\n") ? 2 : text.empty() ? 0 : 1);
  return line;
}

// The separator of a text: that of ; tab and comma, in this order, which parts all lines into
// equally many cells; where none does, that which the first line has. Numbers may hold commas, so
// the comma comes last. 0: one column.
inline char csv_separator(std::string_view text) {
  constexpr std::array<char, 3> candidates{';', '\t', ','};
  std::array<std::size_t, 3> first{};
  std::array<bool, 3> parts{true, true, true};
  for (bool is_first = true; !text.empty(); is_first = false) {
    std::array<std::size_t, 3> here{};
    bool inside = false;
    for (char const c : next_line(text)) {
      inside ^= c == '"';
      for (std::size_t i = 0; i < 3 && !inside; ++i) here[i] += c == candidates[i];
    }
    if (is_first) first = here;
    for (std::size_t i = 0; i < 3; ++i) parts[i] &= here[i] > 0 && here[i] == first[i];
  }
  for (std::size_t i = 0; i < 3; ++i)
    if (parts[i]) return candidates[i];
  for (std::size_t i = 0; i < 3; ++i)
    if (first[i]) return candidates[i];
  return 0;
}

// The cells of a line, without surrounding blanks and double quotes. Empty where a quote is open at
// the end.
inline std::optional<std::vector<std::string>> csv_cells(std::string_view line, char separator) {
  std::vector<std::string> cells(1);
  bool inside = false;
  for (char const c : line) {
    if (c == '"') {
      inside = !inside;
    } else if (!inside && separator && c == separator) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  if (inside) return std::nullopt;
  for (auto& cell : cells) {
    auto const first = cell.find_first_not_of(" \t");
    auto const last = cell.find_last_not_of(" \t");
    cell = first == std::string::npos ? "" : cell.substr(first, last - first + 1);
  }
  return cells;
}

// A cell that can only be a name: it has a letter, and does not begin as a number does. Numbers
// that no double takes (1e-400) and those behind a no-break space or with a minus of Unicode are
// none, and are refused when they are read.
inline bool is_word(std::string_view cell) {
  if (number_in(cell)) return false;
  constexpr std::string_view leads[] = {"\xC2\xA0", "\xE2\x88\x92", "+", "-", "."};
  std::string_view digits = cell;
  for (bool more = true; more;) {
    more = false;
    for (auto const lead : leads)
      if (digits.starts_with(lead)) digits.remove_prefix(lead.size()), more = true;
  }
  if (!digits.empty() && std::isdigit(static_cast<unsigned char>(digits[0]))) return false;
  return std::ranges::any_of(cell, [](unsigned char c) { return std::isalpha(c) || c >= 0x80; });
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
  char separator;
  std::vector<std::string> cells;
};

// The first line names columns where it has words, and either nothing else or a word above a
// number.
inline bool is_heading(std::vector<std::string> const& first,
                       std::vector<std::string> const& second) {
  bool words = false, others = false, above = false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    bool const word = is_word(first[i]);
    words |= word, others |= !word && !first[i].empty();
    above |= word && i < second.size() && number_in(second[i]);
  }
  return above || (words && !others);
}

// Calls seen(line) for each line. Refuses an empty file, lines of unequal length and quotes that
// are not closed; blank lines are allowed at the end only. `file` names it in messages.
template <class Seen>
void for_each_csv_line(std::string_view content, std::string const& file, Seen const& seen) {
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  while (!content.empty() && std::isspace(static_cast<unsigned char>(content.back()))) {
    content.remove_suffix(1);
  }
  if (content.empty()) throw input_error(file + " is empty; give a column of numbers");
  char const separator = csv_separator(content);
  std::size_t number = 0;
  auto const next = [&] {
    auto cells = csv_cells(next_line(content), separator);
    ++number;
    if (!cells) {
      throw input_error(file + " line " + std::to_string(number) +
                        " opens a quote and does not close it; quotes end in their line");
    }
    return std::move(*cells);
  };
  csv_line line{1, false, separator, next()};
  std::size_t const columns = line.cells.size();
  std::vector<std::string> ahead;
  if (!content.empty()) ahead = next();
  line.is_heading = is_heading(line.cells, ahead);
  for (;;) {
    seen(line);
    if (ahead.empty()) return;
    line = {line.number + 1, false, separator, std::move(ahead)};
    if (line.cells.size() != columns) {
      throw input_error(file + " line " + std::to_string(line.number) + " has " +
                        std::to_string(line.cells.size()) + " columns where line 1 has " +
                        std::to_string(columns) + "; every line needs the same");
    }
    ahead.clear();
    if (!content.empty()) ahead = next();
  }
}

// Reads the cells of a file as finite numbers. Where semicolons part cells, numbers may have a
// decimal comma; one file has commas or points, not both.
class csv_numbers {
 public:
  explicit csv_numbers(std::string const& file) : file_(file) {}

  double operator()(csv_line const& line, std::size_t column) {
    std::string cell = line.cells[column];
    bool const comma = line.separator == ';' && std::ranges::count(cell, ',') == 1 &&
                       cell.find('.') == std::string::npos;
    if (comma) cell[cell.find(',')] = '.';
    auto const value = number_in(cell);
    auto const refuse = [&](std::string const& what) {
      throw input_error(file_ + " line " + std::to_string(line.number) + ": " +
                        in_quotes(line.cells[column].substr(0, 40)) + what);
    };
    if (!value || !std::isfinite(*value)) {
      bool const commas = cell.find(',') != std::string::npos;
      refuse(std::string(" is not a finite number; ") +
             (commas ? "write numbers with a decimal point and nothing between digits"
                     : "remove the line or fill the gap"));
    }
    commas_ |= comma, points_ |= !comma && cell.find('.') != std::string::npos;
    if (commas_ && points_) {
      refuse(comma ? " has a decimal comma where others have a point; write all in one way"
                   : " has a decimal point where others have a comma; write all in one way");
    }
    return *value;
  }

 private:
  std::string file_;
  bool commas_ = false, points_ = false;
};

}  // namespace wane::bench
