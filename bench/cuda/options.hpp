// The command line of wane-bench-cuda.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace wane::bench {

struct options {
  std::string json;    // empty: not written
  std::string filter;  // rows whose name holds this
  int rounds = 11;
};

// Nothing where help was asked for and has been printed. Throws input_error.
std::optional<options> parse_options(int argc, char const* const* argv);

}  // namespace wane::bench
