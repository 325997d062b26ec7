// The keyed memories keep every law of recurrences.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/laws_hold.hpp"
#include "support/memory_problems.hpp"
#include "wane/testing/laws.hpp"

namespace wane::testing {
namespace {

// Batch, time, heads, rows, columns, groups of heads, options.
memory_size const sizes[] = {
    {1, 200, 3, 1, 1},
    {1, 129, 2, 5, 7},
    {2, 70, 2, 3, 17},
    {1, 64, 1, 17, 65},
    {1, 65, 1, 65, 3},
    {1, 66, 5, 3, 70},
    {1, 13, 1, 150, 70},
    {1, 70, 6, 5, 4, 2},
    {1, 70, 6, 5, 4, 3, {.groups = head_groups::tiled}},
    {1, 90, 2, 8, 9, 0, {.scale = -0.7, .normalise = true, .epsilon = 0.01}},
};
template <class T>
constexpr double agreement = sizeof(T) == 4 ? 1e-6 : 1e-12;

template <class Problem>
class MemoryLaws : public ::testing::Test {};
using InFloatAndDouble = ::testing::Types<
    gla_problem<float>, gla_problem<double>, gla_problem<float, token_view<float const>>,
    linear_attention_problem<float>, linear_attention_problem<double>,
    linear_attention_problem<float, sequence_view<float const>>,
    linear_attention_problem<float, token_view<float const>>, retnet_problem<float>,
    retnet_problem<double>, delta_net_problem<float>, delta_net_problem<double>,
    gated_delta_net_problem<float>, gated_delta_net_problem<double>, kimi_problem<float>,
    kimi_problem<double>, rwkv7_problem<float>, rwkv7_problem<double>, vla_delta_net_problem<float>,
    vla_delta_net_problem<double>>;
TYPED_TEST_SUITE(MemoryLaws, InFloatAndDouble);

TYPED_TEST(MemoryLaws, Hold) {
  using T = accumulate_type<operator_of<TypeParam>>;
  for (index i = 0; memory_size const& size : sizes)
    support::expect_to_hold(check_laws(TypeParam(size), agreement<T>),
                            "case " + std::to_string(i++) + ", ");
}

}  // namespace
}  // namespace wane::testing
