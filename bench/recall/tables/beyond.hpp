// Tables that no paper has.
// SPDX-License-Identifier: MIT
#pragma once

#include "recall/tables/table.hpp"

namespace wane::recall::impl {

// Which memory for how many pairs at which size of state: one layer of width 64 in 4, 2 or 1 heads,
// trained with 8, 16, 32 and then 64 pairs in four times as many tokens, and tested with each. What
// softmax attention keeps does not depend on the heads: it has 4.
inline std::vector<experiment> table_of_states(std::string const& memory, wishes const& asked) {
  std::vector<experiment> all;
  for (index const heads : {4, 2, 1}) {
    if (asked.quick ? heads != 2 : memory == "softmax" && heads != 4) continue;
    experiment& e = all.emplace_back(asked.base);
    e.model.memory = memory, e.model.mix = asked.mix.value_or(mixing::shift);
    e.model.width = 64, e.model.heads = heads, e.model.layers = 1, e.model.feed_forward = 128;
    e.model.positions = false, e.model.output_norm = true, e.model.embedding_size = 0.1;
    e.model.vocabulary = 257, e.model.time = 256;
    e.how.batch = 16, e.how.learning_rate = asked.rate.value_or(3e-3);
    e.how.steps = asked.steps_or(800, 120);
    e.test_batches = 5;
    for (int const pairs : {8, 16, 32, 64}) {
      task of;
      of.vocabulary = e.model.vocabulary, of.keys = 128, of.pairs = pairs, of.time = 4 * pairs;
      e.stages.push_back(of), e.tests.push_back({std::to_string(pairs) + " pairs", of});
    }
  }
  return all;
}

// Parity and products of permutations, trained at 16, 32 and then 64 tokens and tested at 64, 128
// and 256. Diagonal decays from 0 to 1 cannot follow them at any length (Grazzi et al. 2024).
inline std::vector<experiment> table_of_products(std::string const& memory, wishes const& asked) {
  std::vector<experiment> all;
  for (char const* const name : {"parity", "s3"}) {
    experiment& e = all.emplace_back(asked.base);
    e.model.memory = memory, e.model.mix = asked.mix.value_or(mixing::none);
    e.model.width = 64, e.model.heads = 2, e.model.layers = 2, e.model.feed_forward = 128;
    e.model.positions = false, e.model.embedding_size = 0.1, e.model.vocabulary = 7;
    e.model.time = 64;
    e.how.batch = 32, e.how.learning_rate = asked.rate.value_or(3e-3);
    e.how.steps = asked.steps_or(1000, 100);
    e.test_batches = 4;
    task of;
    of.name = name, of.vocabulary = e.model.vocabulary;
    for (index const time : {16, 32, 64}) of.time = time, e.stages.push_back(of);
    for (index const time : {64, 128, 256})
      of.time = time, e.tests.push_back({std::to_string(time) + " tokens", of});
  }
  return all;
}

}  // namespace wane::recall::impl
