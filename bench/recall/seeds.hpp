// Means over seeds with their intervals, and the difference that PoST makes.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "recall/report.hpp"
#include "shared/interval.hpp"

namespace wane::recall {

// A line for each memory and test that ran with several seeds: accuracies, or for a text bits; and
// for each memory with PoST what it adds to the one without, seed by seed. "" where no test has
// several seeds.
inline std::string seeds_of(std::vector<measured> const& rows) {
  using by_seed = std::map<unsigned, double>;
  std::map<std::string, std::map<std::string, by_seed>> all;  // by test, memory
  std::vector<std::string> tests, memories;
  auto const note = [](std::vector<std::string>& names, std::string const& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for_each_test(rows, [&](measured const& m, test const& t, tested const& x) {
    std::string const name = std::string(name_of(m.of.model.mix)) + "  " + description_of(t.of) +
                             "  " + std::to_string(t.of.time) + " tokens  " +
                             std::to_string(m.of.model.heads) + " heads  " +
                             std::to_string(m.of.how.steps) + " steps  " + t.name;
    note(tests, name), note(memories, m.of.model.memory);
    all[name][m.of.model.memory][m.of.model.seed] =
        t.of.name == "text" ? bits_of(x.found) : x.found.accuracy();
  });
  bench::table_cells lines{{"test", "memory", "seeds", "mean", "95 % within"}};
  auto const add = [&](std::string const& name, std::string const& what, by_seed const& of) {
    std::vector<double> values;
    for (auto const& [seed, value] : of) values.push_back(value);
    if (values.size() < 2) return;
    bench::interval const found = bench::interval_of(values);
    lines.push_back({name, what, std::to_string(values.size()),
                     bench::formatted("%.3f", found.mean),
                     "+- " + bench::formatted("%.3f", found.half_width)});
  };
  for (std::string const& name : tests)
    for (std::string const& memory : memories) {
      by_seed const& with = all[name][memory];
      add(name, memory, with);
      if (!memory.ends_with("-post")) continue;
      by_seed difference;
      for (auto const& [seed, value] : all[name][memory.substr(0, memory.size() - 5)])
        if (auto const at = with.find(seed); at != with.end())
          difference[seed] = at->second - value;
      add(name, "  what PoST adds", difference);
    }
  return lines.size() > 1 ? bench::aligned(lines) : "";
}

}  // namespace wane::recall
