// table: a table of a paper as experiments, with the numbers that it prints.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "recall/experiment.hpp"
#include "recall/tasks/text.hpp"

namespace wane::recall {

// What is asked of a table beside its memories.
struct wishes {
  experiment base;             // seed and threads
  std::optional<mixing> mix;   // absent: that of the table
  std::optional<index> steps;  // absent: those of the table
  std::optional<double> rate;  // of learning; absent: that of the table
  bool quick = false;          // a small version, in less than two minutes on two cores
  text prose;                  // for tables of text

  index steps_or(index of_table, index of_quick) const {
    return steps.value_or(quick ? of_quick : of_table);
  }
};

struct table {
  char const *name, *what;
  std::vector<std::string> memories;  // by default
  bool of_text, has_seeds;            // needs a text; sets its own seeds
  std::vector<experiment> (*experiments)(std::string const& memory, wishes const&);
};

template <std::size_t N>
struct printed_row {
  char const* memory;
  std::array<double, N> values;
};
// The number printed for a memory in a column, NaN where there is none.
template <class Rows>
double printed(Rows const& rows, std::string const& memory, std::size_t column) {
  for (auto const& row : rows)
    if (memory == row.memory) return row.values[column];
  return NAN;
}

}  // namespace wane::recall
