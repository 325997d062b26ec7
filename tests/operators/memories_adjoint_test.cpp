// Gradients of the keyed memories by every input are the transpose of the derivative.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/laws_hold.hpp"
#include "support/memory_problems.hpp"
#include "wane/testing/adjoint_laws.hpp"

namespace wane::testing {
namespace {

// Batch, time, heads, rows, columns, groups of heads, options. The sizes are small because the laws
// of the adjoint take differences of many runs.
memory_size const sizes[] = {
    {1, 40, 1, 1, 1},
    {2, 66, 2, 3, 5},
    {1, 17, 1, 17, 8},
    {1, 35, 6, 3, 4, 2},
    {2, 35, 6, 3, 3, 3, {.groups = head_groups::tiled}},
    {1, 50, 2, 5, 9, 0, {.scale = -0.7, .normalise = true, .epsilon = 0.01}},
    {1, 35, 4, 3, 4, 1, {.normalise = true, .groups = head_groups::tiled}},
};

template <class Problem>
class MemoryAdjointLaws : public ::testing::Test {};
using InDouble = ::testing::Types<
    gla_problem<double>, gla_problem<double, token_view<double const>>,
    linear_attention_problem<double>, linear_attention_problem<double, sequence_view<double const>>,
    linear_attention_problem<double, token_view<double const>>, retnet_problem<double>,
    delta_net_problem<double>, gated_delta_net_problem<double>, kimi_problem<double>,
    rwkv7_problem<double>, vla_delta_net_problem<double>>;
TYPED_TEST_SUITE(MemoryAdjointLaws, InDouble);

TYPED_TEST(MemoryAdjointLaws, Hold) {
  for (index i = 0; memory_size const& size : sizes) {
    TypeParam problem(size);
    support::expect_to_hold(check_adjoint_laws(problem), "case " + std::to_string(i++) + ", ");
  }
}

}  // namespace
}  // namespace wane::testing
