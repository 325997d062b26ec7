// The tables of the VLA paper.
// SPDX-License-Identifier: MIT
#pragma once

#include "recall/tables/table.hpp"

namespace wane::recall::impl {

// The paper's row of a memory: its DeltaNet is the rule of its eq. (4), and its VLA is compared
// with every form of vla here. "" where the paper does not have the memory.
inline std::string row_of_vla(std::string const& memory) {
  if (memory == "vla-delta") return "delta";
  if (memory.starts_with("vla")) return "vla";
  return memory == "softmax" || memory == "linear" ? memory : "";
}

inline constexpr std::array<printed_row<5>, 4> vla_11{{{"softmax", {.152, .091, .070, .057, .043}},
                                                       {"linear", {.150, .091, .069, .056, .043}},
                                                       {"delta", {.965, .009, .007, .008, .008}},
                                                       {"vla", {.997, .990, .994, .623, .044}}}};
inline constexpr std::array<printed_row<3>, 4> vla_9{{{"softmax", {.083, .079, .081}},
                                                      {"linear", {.074, .077, .072}},
                                                      {"delta", {.011, .009, .012}},
                                                      {"vla", {1, 1, 1}}}};
inline constexpr std::array<printed_row<3>, 4> vla_13{{{"softmax", {.146, .094, .070}},
                                                       {"linear", {.146, .093, .070}},
                                                       {"delta", {.104, .008, .007}},
                                                       {"vla", {1, 1, .999}}}};
inline constexpr std::array<printed_row<3>, 4> vla_13_other{{{"softmax", {.144, .085, .062}},
                                                             {"linear", {.148, .086, .064}},
                                                             {"delta", {.100, .008, .008}},
                                                             {"vla", {.945, .782, .687}}}};
inline constexpr std::array<printed_row<1>, 4> vla_7{
    {{"softmax", {1}}, {"linear", {1}}, {"delta", {1}}, {"vla", {1}}}};
// Read off the text of section 6.5.
inline constexpr std::array<printed_row<4>, 4> vla_figure_6{{{"softmax", {.145, .145, .145, .145}},
                                                             {"linear", {.145, .145, .145, .145}},
                                                             {"delta", {.01, .01, .01, .01}},
                                                             {"vla", {1, 1, 1, 1}}}};

// Keys and values; `time` 0 is the least. The paper does not give the first weights; with 0.02, as
// in GPT-2, `vla-unit` learns 16 pairs in 1000 steps, and with 1/sqrt(3 inputs) it does not.
inline experiment vla_experiment(std::string const& memory, wishes const& asked, index steps,
                                 int pairs, index time, double paper) {
  experiment e = asked.base;
  e.model.memory = memory, e.model.mix = asked.mix.value_or(mixing::none);
  e.model.weight_size = 0.02;
  e.how.steps = asked.steps_or(steps, 200), e.how.learning_rate = asked.rate.value_or(3e-4);
  task of;
  of.pairs = pairs, of.time = time > 0 ? time : 3 * pairs + 1;
  e.model.time = of.time;
  e.stages = {of};
  e.tests = {{"", of, paper}};
  return e;
}

inline std::vector<experiment> vla_table_11(std::string const& memory, wishes const& asked) {
  constexpr int pairs[] = {8, 16, 24, 32, 48};
  std::vector<experiment> all;
  for (std::size_t i = 0; i < (asked.quick ? 1 : 5); ++i)
    all.push_back(
        vla_experiment(memory, asked, 1000, pairs[i], 0, printed(vla_11, row_of_vla(memory), i)));
  return all;
}
inline std::vector<experiment> vla_table_9(std::string const& memory, wishes const& asked) {
  constexpr unsigned seeds[] = {42, 123, 999};
  std::vector<experiment> all;
  for (std::size_t i = 0; i < (asked.quick ? 1 : 3); ++i) {
    all.push_back(
        vla_experiment(memory, asked, 2000, 24, 0, printed(vla_9, row_of_vla(memory), i)));
    all.back().model.seed = seeds[i];
  }
  return all;
}
inline std::vector<experiment> vla_table_13(std::string const& memory, wishes const& asked) {
  constexpr int pairs[] = {8, 16, 24};
  std::vector<experiment> all;
  for (std::size_t i = 0; i < (asked.quick ? 1 : 3); ++i) {
    experiment& e = all.emplace_back(
        vla_experiment(memory, asked, 1000, pairs[i], 0, printed(vla_13, row_of_vla(memory), i)));
    test other{"other keys", e.tests[0].of, printed(vla_13_other, row_of_vla(memory), i)};
    other.of.first_key = 64, other.of.keys = 63;
    e.tests.push_back(other);
  }
  return all;
}
inline std::vector<experiment> vla_curve_6(std::string const& memory, wishes const& asked) {
  constexpr index times[] = {64, 128, 256, 512};
  std::vector<experiment> all;
  for (std::size_t i = 0; i < (asked.quick ? 1 : 4); ++i)
    all.push_back(vla_experiment(memory, asked, 1000, 8, times[i],
                                 printed(vla_figure_6, row_of_vla(memory), i)));
  return all;
}
inline std::vector<experiment> vla_table_7(std::string const& memory, wishes const& asked) {
  experiment e = vla_experiment(memory, asked, 1500, 8, 64, printed(vla_7, row_of_vla(memory), 0));
  e.how.batch = 32;
  e.stages[0].name = e.tests[0].of.name = "copy";
  return {e};
}

}  // namespace wane::recall::impl
