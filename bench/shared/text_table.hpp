// A table as aligned text.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace wane::bench {

using table_cells = std::vector<std::vector<std::string>>;  // the first line is the heading

// Columns two blanks apart; flush left the first and those without a heading, the others right.
inline std::string aligned(table_cells const& lines) {
  std::vector<std::size_t> width(lines.front().size());
  for (auto const& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) width[i] = std::max(width[i], line[i].size());
  }
  std::string text;
  for (auto const& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      std::string const blank(width[i] - line[i].size(), ' ');
      bool const left = i == 0 || lines.front()[i].empty();
      text += (i == 0 ? "" : "  ") + (left ? line[i] + blank : blank + line[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace wane::bench
