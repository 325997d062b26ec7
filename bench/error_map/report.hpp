// The map as a table, as JSON, and as lines about errors above their bounds.
// SPDX-License-Identifier: MIT
#pragma once

#include <cinttypes>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "error_map/map.hpp"
#include "shared/larger.hpp"
#include "shared/number_text.hpp"
#include "shared/text_table.hpp"

namespace wane::bench {

// A line for each cell above its bound; returns their number.
inline std::size_t count_violations(std::vector<map_cell> const& cells) {
  std::size_t count = 0;
  for (auto const& cell : cells)
    if (!cell.holds()) {
      ++count;
      std::fprintf(stderr, "wane-error-map: above its bound: %s\n", text_of(cell).c_str());
    }
  return count;
}

// One line for an operator, type and decay: the largest error over the cuts, for each length, and
// the largest part of a bound that an error takes.
inline std::string table_of(std::vector<map_cell> const& cells, std::vector<index> const& lengths) {
  table_cells lines{{"operator", "type", "log decay"}};
  for (index const tokens : lengths) lines[0].push_back("T " + std::to_string(tokens));
  lines[0].push_back("of bound");
  std::vector<double> errors;
  double part = 0;
  for (std::size_t n = 0; n < cells.size(); ++n) {
    auto const& cell = cells[n];
    errors.resize(lengths.size());
    for (std::size_t i = 0; i < lengths.size(); ++i)
      if (lengths[i] == cell.tokens) errors[i] = larger(errors[i], cell.error);
    part = larger(part, cell.error / cell.bound);
    bool const last = n + 1 == cells.size() || cells[n + 1].name != cell.name ||
                      cells[n + 1].io != cell.io || cells[n + 1].log_decay != cell.log_decay;
    if (!last) continue;
    lines.push_back(
        {cell.name, name_of(cell.io), cell.has_decay ? formatted("%.4g", cell.log_decay) : "own"});
    for (double const error : errors) lines.back().push_back(formatted("%.1e", error));
    lines.back().push_back(formatted("%.2f", part));
    errors.clear(), part = 0;
  }
  return aligned(lines);
}

// null: decays of its own, or no cut.
inline nlohmann::ordered_json json_of(std::vector<map_cell> const& cells) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (auto const& cell : cells) {
    nlohmann::ordered_json row{{"operator", cell.name}, {"type", name_of(cell.io)},
                               {"tokens", cell.tokens}, {"log_decay", nullptr},
                               {"chunk", nullptr},      {"max_rel_error", cell.error},
                               {"bound", cell.bound}};
    if (cell.has_decay && std::isinf(cell.log_decay)) row["log_decay"] = "-inf";
    if (cell.has_decay && !std::isinf(cell.log_decay)) row["log_decay"] = cell.log_decay;
    if (cell.chunk != 0) row["chunk"] = cell.chunk;
    rows.push_back(row);
  }
  return {{"program", "wane-error-map"}, {"errors", rows}};
}

// Operator, type, log decay, cut and checksum.
inline std::string line_of_bits(mapped_operator const& of, io_type io, index tokens,
                                double log_decay, index chunk) {
  char text[160];
  std::snprintf(text, sizeof text, "%-25s %-9s %12s %6s  %016" PRIx64 "\n", of.name.c_str(),
                name_of(io),
                of.takes == takes_decays::none ? "own" : formatted("%.4g", log_decay).c_str(),
                chunk == 0 ? "whole" : std::to_string(chunk).c_str(),
                bits_of(of, io, tokens, log_decay, chunk));
  return text;
}

}  // namespace wane::bench
