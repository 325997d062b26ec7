// Golden values of others' functions (tests/operators/golden), and how far wane's are from them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/nearness.hpp"

namespace support {

using golden_table = std::map<std::string, std::vector<float>>;

// A line is a name and its numbers.
inline golden_table read_golden(char const* name) {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path().parent_path() /
                     "operators/golden" / name);
  golden_table found;
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    std::string cell;
    std::getline(cells, cell, ',');
    auto& values = found[cell];
    while (std::getline(cells, cell, ',')) values.push_back(std::stof(cell));
  }
  return found;
}

// `bound`: in float, some roundings of memories that fade.
inline void expect_near_golden(std::vector<float> const& is, std::vector<float> const& should_be,
                               double bound = 1e-6) {
  ASSERT_EQ(is.size(), should_be.size());
  nearness near;
  for (std::size_t i = 0; i < is.size(); ++i)
    near.add(static_cast<double>(is[i]), static_cast<double>(should_be[i]));
  EXPECT_LE(near.both(), bound);
}

}  // namespace support
