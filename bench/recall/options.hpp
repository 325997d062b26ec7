// The command line of wane-recall.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recall/experiment.hpp"

namespace wane::recall {

struct options {
  std::vector<experiment> experiments;
  std::optional<std::string> json, csv, plot, save;
  bool resume = false;
};

// Empty if help was requested and has been printed. Throws bench::input_error.
std::optional<options> read_options(int argc, char const* const* argv);

}  // namespace wane::recall
