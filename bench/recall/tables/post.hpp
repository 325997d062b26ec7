// Table 2 of the PoST paper, at a reduced scale.
// SPDX-License-Identifier: MIT
#pragma once

#include "recall/tables/table.hpp"

namespace wane::recall::impl {

// Accuracies at 512 to 4096 tokens for a state of 16K numbers a layer. The paper trains at 512.
inline constexpr std::array<printed_row<4>, 9> post_2{
    {{"mamba2", {.993, .806, .312, .057}},
     {"mamba2-post", {.996, .878, .441, .127}},
     {"rwkv7", {1, .952, .460, .108}},
     {"rwkv7-post", {1, .993, .709, .188}},
     {"gated-delta", {.998, .827, .317, .074}},
     {"gated-delta-post", {.999, .865, .357, .087}},
     {"gla", {.998, .885, .387, .078}},
     {"retnet", {.968, .168, .007, .000}},
     {"retnet-post", {.999, .931, .507, .122}}}};

// Trained at 64 tokens with 2, 4, 8 and then 16 pairs; tested at 1, 2, 4 and 8 times the length,
// always with a pair for every four tokens. As in Appendix C two layers, no feed-forward part and
// no positions; heads have a norm of their outputs. Keys are those of the token before: with a
// short convolution, as in the paper, memories that do not erase need many times the steps. Also
// unlike the paper: 3 heads of 32 channels, one learning rate with a cosine, and the last weights.
inline std::vector<experiment> post_table_2(std::string const& memory, wishes const& asked) {
  constexpr index trained_at = 64;
  constexpr int keys = 128;
  experiment e = asked.base;
  e.model.memory = memory, e.model.mix = asked.mix.value_or(mixing::shift);
  e.model.vocabulary = 2 * keys + 1;
  e.model.width = 96, e.model.heads = 3, e.model.feed_forward = 0, e.model.positions = false,
  e.model.output_norm = true;
  e.model.time = trained_at, e.model.embedding_size = 0.1;
  e.how.batch = 32, e.how.steps = asked.steps_or(2000, 200);
  e.how.learning_rate = asked.rate.value_or(5e-3), e.how.weight_decay = 0.1;
  auto const of = [&](int pairs, index time) {
    task t;
    t.vocabulary = e.model.vocabulary, t.keys = keys, t.pairs = pairs, t.time = time;
    return t;
  };
  for (int pairs : {2, 4, 8, 16}) e.stages.push_back(of(pairs, trained_at));
  for (std::size_t i = 0; i < 4; ++i) {
    index const time = trained_at << i;
    e.tests.push_back({std::to_string(1 << i) + " T", of(static_cast<int>(time / 4), time),
                       printed(post_2, memory, i)});
  }
  e.test_batches = 8;
  return {e};
}

}  // namespace wane::recall::impl
