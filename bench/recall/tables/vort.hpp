// The tables of the VORT paper.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "recall/tables/table.hpp"

namespace wane::recall::impl {

inline constexpr std::array<printed_row<3>, 3> vort_1{{{"power-law", {.913, .876, .794}},
                                                       {"exponential", {.908, .812, .523}},
                                                       {"mixture-5", {.910, .837, .618}}}};
inline constexpr std::array<printed_row<3>, 3> vort_2{{{"power-law", {.931, .894, .827}},
                                                       {"exponential", {.926, .831, .584}},
                                                       {"mixture-5", {.929, .858, .652}}}};
// Bits a character of PG-19 by the place in the context.
inline constexpr std::array<printed_row<4>, 3> vort_3{{{"power-law", {1.84, 1.71, 1.62, 1.56}},
                                                       {"exponential", {1.85, 1.74, 1.69, 1.68}},
                                                       {"mixture-5", {1.84, 1.73, 1.67, 1.63}}}};

// One layer that reads keys of the token before, without positions; two heads of 64 features, as
// in the paper's count of costs.
inline experiment vort_experiment(std::string const& memory, wishes const& asked, index time) {
  experiment e = asked.base;
  e.model.memory = memory, e.model.mix = asked.mix.value_or(mixing::shift);
  e.model.width = asked.quick ? 64 : 128, e.model.heads = 2, e.model.layers = 1;
  e.model.feed_forward = 2 * e.model.width;
  e.model.positions = false, e.model.time = time;
  e.how.batch = 4, e.how.learning_rate = asked.rate.value_or(3e-3);
  return e;
}
// Trained on sequences of a 32nd, an eighth and half of the length, and then of all of it, with as
// many keys or mentions as they hold. Tested by lag: at most `low`, at most `high`, and beyond.
template <class Printed>
void add_lag_tests(experiment& e, task of, index low, index high, Printed const& paper) {
  for (index const part : {32, 8, 2, 1}) {
    task& stage = e.stages.emplace_back(of);
    stage.time = of.time / part;
    stage.mentions = std::min(of.mentions, stage.time / 4);
    if (of.name == "zipf")
      stage.pairs = static_cast<int>(std::min<index>(of.pairs, stage.time / 12));
  }
  index const ends[] = {0, low, high, of.most_lag};
  for (std::size_t i = 0; i < 3; ++i) {
    of.least_lag = ends[i] + (i > 0), of.most_lag = ends[i + 1];
    std::string const last = std::to_string(ends[i + 1]);
    e.tests.push_back({i < 2 ? "lag to " + last : "lag above " + std::to_string(high), of,
                       printed(paper, e.model.memory, i)});
  }
}

// Table 1: 64 keys, each asked for once, and a model for each exponent; 2000 tokens, where the
// paper has 10 000.
inline std::vector<experiment> vort_table_1(std::string const& memory, wishes const& asked) {
  std::vector<experiment> all;
  for (double const exponent : {1.0, 1.5, 2.0}) {
    if (asked.quick && exponent != 1) continue;
    experiment& e = all.emplace_back(vort_experiment(memory, asked, 2000));
    e.how.steps = asked.steps_or(1000, 300);
    task of;
    of.name = "zipf", of.time = e.model.time, of.keys = of.pairs = 64, of.exponent = exponent;
    add_lag_tests(e, of, 100, 1000, vort_1);
  }
  return all;
}
// Table 2: 20 keys; 2000 tokens and lags of a quarter of the paper's 8000.
inline std::vector<experiment> vort_table_2(std::string const& memory, wishes const& asked) {
  experiment e = vort_experiment(memory, asked, 2000);
  e.how.steps = asked.steps_or(600, 300);
  task of;
  of.name = "labels", of.time = e.model.time, of.pairs = of.keys = 20;
  add_lag_tests(e, of, 50, 500, vort_2);
  return {e};
}
// Table 3, on the text that is given: one layer of width 128; the paper has 256 and 40M characters.
inline std::vector<experiment> vort_table_3(std::string const& memory, wishes const& asked) {
  index const time = asked.quick ? 1024 : 8192;
  experiment e = vort_experiment(memory, asked, time);
  e.model.width = 128, e.model.heads = 4, e.model.feed_forward = 256;
  e.model.mix = asked.mix.value_or(mixing::convolution);
  e.how.steps = asked.steps_or(600, 100);
  e.model.vocabulary = asked.prose.vocabulary;
  e.stages = {asked.prose.trained_on(time)};
  index const ends[] = {0, 256, 1024, 4096, time};
  for (std::size_t i = 0; i < 4 && ends[i] < time; ++i) {
    task part = asked.prose.tested_on(time);
    part.least_lag = ends[i], part.most_lag = ends[i + 1] - 1;
    e.tests.push_back({"from " + std::to_string(ends[i]), part, printed(vort_3, memory, i)});
  }
  return {e};
}

}  // namespace wane::recall::impl
