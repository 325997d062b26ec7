// The command line of wane-bench: two options of ours, and Google Benchmark's own.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace wane::bench {

struct options {
  // For Google Benchmark: ours as its own, and its own after some defaults.
  std::vector<std::string> passed_on;
  bool only_lists = false;
  std::optional<double> slower_than = {};  // rows to list at the end
};

// `rows` are the names that a filter may match. Throws input_error where Google Benchmark would
// end the program, go on without the option or run nothing.
options parse_options(int argc, char** argv, std::vector<std::string> const& rows);

}  // namespace wane::bench
