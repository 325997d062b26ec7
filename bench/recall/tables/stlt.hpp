// Table 4 of the STLT paper, on characters.
// SPDX-License-Identifier: MIT
#pragma once

#include "recall/tables/table.hpp"

namespace wane::recall::impl {

// The paper's numbers are perplexities of WikiText-103 by word, so none is beside: the order
// counts. Two layers of width 128, trained on 256 characters and tested on one, two and four times
// as many. The first quarter is not asked about: gates of adaptive nodes read it.
inline std::vector<experiment> stlt_table_4(std::string const& memory, wishes const& asked) {
  index const time = 256;
  experiment e = asked.base;
  e.model.memory = memory, e.model.mix = asked.mix.value_or(mixing::none);
  e.model.positions = false, e.model.time = time;
  e.how.batch = 16, e.how.learning_rate = asked.rate.value_or(3e-3),
  e.how.steps = asked.steps_or(500, 60);
  e.model.vocabulary = asked.prose.vocabulary;
  e.stages = {asked.prose.trained_on(time)}, e.stages[0].least_lag = time / 4;
  for (index const longer : {1, 2, 4}) {
    task of = asked.prose.tested_on(longer * time);
    of.least_lag = of.time / 4;
    e.tests.push_back({std::to_string(of.time) + " characters", of});
  }
  return {e};
}

}  // namespace wane::recall::impl
