// What wane-bench-cuda prints, line by line, and its JSON.
// SPDX-License-Identifier: MIT
#include "cuda/report.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace wane::bench {
namespace {

std::string padded(std::string const& text, std::size_t width) {
  return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

std::string cell(char const* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}
std::string ratio_cell(std::optional<comparison> const& with) {
  return with ? cell(" %8.2f", with->ratio) : "        -";
}
std::string bytes_cell(std::optional<comparison> const& with) {
  return with ? cell(" %10.2f", with->bytes / 1e6) : "          -";
}

}  // namespace

std::string table_head(std::size_t width) {
  return padded("", width) +
         "         us  of_copy  of_gemm   vs_cub  vs_walk  vs_softmax         MB"
         "     cub MB    walk MB  max_rel_error\n";
}

std::string table_line(std::string const& name, measurement const& m, std::size_t width) {
  return padded(name, width) + cell(" %10.2f", m.seconds * 1e6) + cell(" %8.3f", m.of_copy) +
         (m.of_gemm ? cell(" %8.3f", *m.of_gemm) : "        -") + ratio_cell(m.cub) +
         ratio_cell(m.walk) + (m.softmax ? cell(" %11.2f", *m.softmax) : "           -") +
         cell(" %10.2f", m.bytes / 1e6) + bytes_cell(m.cub) + bytes_cell(m.walk) +
         cell(" %14.2e", m.max_rel_error) + "\n";
}

nlohmann::json json_of(std::string const& name, measurement const& m) {
  nlohmann::json row{{"name", name},     {"seconds", m.seconds},
                     {"bytes", m.bytes}, {"of_copy", m.of_copy},
                     {"bound", m.bound}, {"max_rel_error", m.max_rel_error}};
  if (m.of_gemm) row["of_gemm"] = *m.of_gemm;
  if (m.cub) row["vs_cub"] = m.cub->ratio, row["cub_bytes"] = m.cub->bytes;
  if (m.walk) row["vs_walk"] = m.walk->ratio, row["walk_bytes"] = m.walk->bytes;
  if (m.softmax) row["vs_softmax"] = *m.softmax;
  return row;
}

}  // namespace wane::bench
