// The command line of wane-bench: two options of ours, and Google Benchmark's own.
// SPDX-License-Identifier: MIT
#include "kernels/options.hpp"

#include <algorithm>
#include <cstdlib>
#include <regex>

#include "shared/input.hpp"

namespace wane::bench {
namespace {

using strings = std::vector<std::string>;

bool is_one_of(std::string const& text, strings const& those) {
  return std::find(those.begin(), those.end(), text) != those.end();
}

void check_filter(std::string filter, strings const& rows) {
  bool const excludes = filter.starts_with("-");
  if (excludes) filter.erase(0, 1);
  try {
    std::regex const wanted(filter == "all" ? "." : filter.c_str(), std::regex::extended);
    for (auto const& row : rows)
      if (std::regex_search(row, wanted) != excludes) return;
  } catch (std::regex_error const&) {
    throw input_error("'" + filter + "' is no regular expression");
  }
  throw input_error("no row matches '" + filter + "'; --benchmark_list_tests lists them");
}

void check_value(std::string const& name, std::string const& value, strings const& rows) {
  strings const numbers{"min_time", "min_warmup_time", "repetitions", "v"};
  strings const formats{"format", "out_format"}, known{"console", "json", "csv"};
  char* end = nullptr;
  std::strtod(value.c_str(), &end);
  if (is_one_of(name, numbers) && (value.empty() || *end != '\0'))
    throw input_error("--benchmark_" + name + " is '" + value + "'; it must be a number");
  if (is_one_of(name, formats) && !is_one_of(value, known))
    throw input_error("--benchmark_" + name + " is '" + value +
                      "'; it must be console, json or csv");
  if (name == "filter") check_filter(value, rows);
}

}  // namespace

options parse_options(int argc, char** argv, strings const& rows) {
  options o;
  o.passed_on = {argv[0], "--benchmark_counters_tabular=true", "--benchmark_min_time=0.05"};
  std::string const mine = "--json", theirs = "--benchmark_";
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i];
    auto const equals = std::min(argument.find('='), argument.size());
    std::string const name = argument.substr(0, equals);
    std::string value = equals < argument.size() ? argument.substr(equals + 1) : "";
    bool const is_mine = name == mine || name == "--slower-than";
    if (is_mine && equals == argument.size() && i + 1 < argc) value = argv[++i];
    if (name == "--slower-than") {
      char* end = nullptr;
      o.slower_than = std::strtod(value.c_str(), &end);
      if (*end != '\0' || !(*o.slower_than > 0))
        throw input_error("--slower-than is '" + value + "'; it must be a positive number");
      continue;
    }
    if (name == mine) {
      if (value.empty()) throw input_error("--json needs a file to write to: --json FILE");
      require_writable(value, mine);
      o.passed_on.insert(o.passed_on.end(),
                         {"--benchmark_out=" + value, "--benchmark_out_format=json"});
      continue;
    }
    if (name.starts_with(theirs)) check_value(name.substr(theirs.size()), value, rows);
    if (name == "--benchmark_out") require_writable(value, name);
    o.only_lists |= name == "--benchmark_list_tests" && value != "false";
    o.passed_on.push_back(argument);
  }
  return o;
}

}  // namespace wane::bench
