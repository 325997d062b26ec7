// What wane-bench-cuda prints, line by line, and its JSON.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cuda/row.hpp"

namespace wane::bench {

// The column of names is as wide as the longest name.
std::string table_head(std::size_t width);
std::string table_line(std::string const& name, measurement const& found, std::size_t width);

nlohmann::json json_of(std::string const& name, measurement const& found);

}  // namespace wane::bench
