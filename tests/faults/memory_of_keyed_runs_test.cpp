// Memories with keys whose requests for memory fail, each in turn.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <complex>

#include "support/failing_passes.hpp"
#include "support/memory_problems.hpp"
#include "support/substep_problems.hpp"

namespace {

using namespace wane::testing;
using support::expect_passes_to_survive;

memory_size const size = {2, 21, 3, 7, 19};

TEST(WithoutMemory, PanelsThatScan) {
  expect_passes_to_survive(gla_problem<float>(size), "panels");
}
TEST(WithoutMemory, PanelsThatErase) {
  expect_passes_to_survive(gated_delta_net_problem<float>(size), "panels");
}
TEST(WithoutMemory, Means) {
  expect_passes_to_survive(linear_attention_problem<float>(size), "panels", "normalised");
}
TEST(WithoutMemory, Substeps) {
  expect_passes_to_survive(delta_product_problem<float, 2>(size), "substeps");
}
TEST(WithoutMemory, TokensInOrder) {
  expect_passes_to_survive(user_memory_problem<std::complex<float>>(2, 21, 3, 4, 5), "in_order");
}

TEST(WithoutMemory, PackedSequences) {
  gla_problem<float> const problem({1, 21, 3, 7, 19});
  auto const op = problem.make(0, 21);
  std::vector<wane::index> const starts = {0, 5, 5, 21};
  wane::recurrent_state<float> state(op, 3);
  std::vector<float> y(21 * 3 * 19);
  for (int const threads : {1, 3}) {
    auto const found = support::expect_to_survive_failures(
        {[&] { state = wane::recurrent_state<float>(op, 3), y.assign(y.size(), -7); },
         [&] {
           wane::run(
               op, {y.data(), 1, 21, 3, 19},
               wane::run_options<float>{.final = state, .packed = {starts}, .threads = threads});
         },
         [&] { return support::bytes_of(y) + support::bytes_of(state.values()); },
         [&] { return support::bytes_of(state.positions()); }});
    EXPECT_GT(found.requests, 0);
  }
}

}  // namespace
