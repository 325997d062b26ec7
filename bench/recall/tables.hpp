// The papers' tables as experiments, with the numbers they print.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>
#include <vector>

#include "recall/experiment.hpp"

namespace wane::recall {

// vla-11  Table 11: accuracy by pairs, 1000 steps      vla-9    Table 9: three seeds, 24 pairs
// vla-13  Table 13: keys that were not trained         vla-7    Table 7: copying
// vla-fig6  Figure 6: 8 pairs in longer sequences
inline std::vector<std::string> const& table_names() {
  static std::vector<std::string> const names{"vla-7", "vla-9", "vla-11", "vla-13", "vla-fig6"};
  return names;
}

namespace impl {

// The paper's row of a memory: its DeltaNet is the rule of its eq. (4), and its VLA is compared
// with every form of vla here. "" where the paper does not have the memory.
inline std::string row_of_paper(std::string const& memory) {
  if (memory == "vla-delta") return "delta";
  if (memory.starts_with("vla")) return "vla";
  return memory == "softmax" || memory == "linear" ? memory : "";
}

template <std::size_t N>
struct printed_row {
  char const* memory;
  std::array<double, N> values;
};
// The number printed for a memory in a column, NaN where there is none.
template <std::size_t N, std::size_t Rows>
double printed(std::array<printed_row<N>, Rows> const& table, std::string const& memory,
               std::size_t column) {
  for (auto const& row : table)
    if (row_of_paper(memory) == row.memory) return row.values[column];
  return NAN;
}

inline constexpr std::array<printed_row<5>, 4> table_11{
    {{"softmax", {.152, .091, .070, .057, .043}},
     {"linear", {.150, .091, .069, .056, .043}},
     {"delta", {.965, .009, .007, .008, .008}},
     {"vla", {.997, .990, .994, .623, .044}}}};
inline constexpr std::array<printed_row<3>, 4> table_9{{{"softmax", {.083, .079, .081}},
                                                        {"linear", {.074, .077, .072}},
                                                        {"delta", {.011, .009, .012}},
                                                        {"vla", {1, 1, 1}}}};
inline constexpr std::array<printed_row<3>, 4> table_13{{{"softmax", {.146, .094, .070}},
                                                         {"linear", {.146, .093, .070}},
                                                         {"delta", {.104, .008, .007}},
                                                         {"vla", {1, 1, .999}}}};
inline constexpr std::array<printed_row<3>, 4> table_13_other{{{"softmax", {.144, .085, .062}},
                                                               {"linear", {.148, .086, .064}},
                                                               {"delta", {.100, .008, .008}},
                                                               {"vla", {.945, .782, .687}}}};
inline constexpr std::array<printed_row<1>, 4> table_7{
    {{"softmax", {1}}, {"linear", {1}}, {"delta", {1}}, {"vla", {1}}}};
// Read off the text of section 6.5.
inline constexpr std::array<printed_row<4>, 4> figure_6{{{"softmax", {.145, .145, .145, .145}},
                                                         {"linear", {.145, .145, .145, .145}},
                                                         {"delta", {.01, .01, .01, .01}},
                                                         {"vla", {1, 1, 1, 1}}}};

}  // namespace impl

// The experiments of a table for these memories. `base` has what the table leaves open: mixing,
// steps (0: those of the paper), seed, threads.
inline std::vector<experiment> experiments_of(std::string const& table, experiment const& base,
                                              std::vector<std::string> const& memories) {
  std::vector<experiment> all;
  auto const add = [&](std::string const& memory, index steps, double paper) -> experiment& {
    experiment& e = all.emplace_back(base);
    e.model.memory = memory, e.paper = paper;
    if (e.how.steps == 0) e.how.steps = steps;
    return e;
  };
  auto const with_pairs = [](experiment& e, int pairs, index time) {
    e.train.pairs = pairs;
    e.train.time = e.model.time = time > 0 ? time : 3 * pairs + 1;
  };
  for (std::string const& memory : memories) {
    if (table == "vla-11") {
      constexpr int pairs[] = {8, 16, 24, 32, 48};
      for (std::size_t i = 0; i < 5; ++i)
        with_pairs(add(memory, 1000, impl::printed(impl::table_11, memory, i)), pairs[i], 0);
    } else if (table == "vla-9") {
      constexpr unsigned seeds[] = {42, 123, 999};
      for (std::size_t i = 0; i < 3; ++i) {
        experiment& e = add(memory, 2000, impl::printed(impl::table_9, memory, i));
        with_pairs(e, 24, 0), e.model.seed = seeds[i];
      }
    } else if (table == "vla-13") {
      constexpr int pairs[] = {8, 16, 24};
      for (std::size_t i = 0; i < 3; ++i) {
        experiment& e = add(memory, 1000, impl::printed(impl::table_13, memory, i));
        with_pairs(e, pairs[i], 0);
        e.other = e.train;
        e.other->first_key = 64, e.other->keys = 63;
        e.paper_of_other = impl::printed(impl::table_13_other, memory, i);
      }
    } else if (table == "vla-fig6") {
      constexpr index times[] = {64, 128, 256, 512};
      for (std::size_t i = 0; i < 4; ++i)
        with_pairs(add(memory, 1000, impl::printed(impl::figure_6, memory, i)), 8, times[i]);
    } else {
      require(table == "vla-7", "there is no table ", table);
      experiment& e = add(memory, 1500, impl::printed(impl::table_7, memory, 0));
      e.train.name = "copy", e.train.time = e.model.time = 64, e.how.batch = 32;
    }
  }
  return all;
}

}  // namespace wane::recall
