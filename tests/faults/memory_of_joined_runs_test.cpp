// Recurrences made of others, penalties and attention whose requests for memory fail, each in turn.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/failing_passes.hpp"
#include "support/local_attention_problem.hpp"
#include "support/log_linear_problem.hpp"
#include "support/mesa_problem.hpp"
#include "support/vla_problem.hpp"
#include "support/vort_problem.hpp"

namespace {

using namespace wane::testing;
using support::expect_passes_to_survive;

memory_size const size = {2, 21, 3, 4, 5};

TEST(WithoutMemory, Pairs) { expect_passes_to_survive(vort_problem<float>(size), "pairs"); }
TEST(WithoutMemory, LedMemories) { expect_passes_to_survive(mesa_problem<float>(size), "led"); }
TEST(WithoutMemory, Levels) {
  expect_passes_to_survive(log_linear_of_problem<gated_delta_net_problem, float>(size), "levels");
}
TEST(WithoutMemory, LocalAttention) {
  expect_passes_to_survive(local_attention_problem<float>(size, 6), "in_order", "local_attention");
}
TEST(WithoutMemory, Penalties) {
  using problem = vla_problem<float, wane::write_rule::rls, penalises::keys>;
  expect_passes_to_survive(problem(size), "penalty");
}

}  // namespace
