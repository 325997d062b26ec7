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

}  // namespace
