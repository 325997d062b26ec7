// Table 4 of the STLT paper, on characters.
// SPDX-License-Identifier: MIT
#pragma once

#include "recall/tables/table.hpp"

namespace wane::recall::impl {

// The paper's numbers are perplexities of WikiText-103 by word, so none is beside: the order
// counts. Two layers of width 128 on 256 characters.
inline std::vector<experiment> stlt_table_4(std::string const& memory, wishes const& asked) {
  index const time = 256;
  experiment e = asked.base;
  e.model.memory = memory, e.model.mix = asked.mix.value_or(mixing::none);
  e.model.positions = false, e.model.time = time;
  e.how.batch = 16, e.how.learning_rate = asked.rate.value_or(3e-3),
  e.how.steps = asked.steps_or(500, 60);
  e.model.vocabulary = asked.prose.vocabulary;
  e.stages = {asked.prose.trained_on(time)}, e.tests = {{"", asked.prose.tested_on(time)}};
  return {e};
}

}  // namespace wane::recall::impl
