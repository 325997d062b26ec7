// sharded_run and sharded_adjoint keep their laws for every operator.
// SPDX-License-Identifier: MIT
#include "wane/testing/sharded_laws.hpp"

#include <gtest/gtest.h>

#include "support/laws_hold.hpp"
#include "support/memory_problems.hpp"

namespace wane::testing {
namespace {

template <class P>
struct ShardedMemory : ::testing::Test {};
using memories = ::testing::Types<gla_problem<double>, gla_problem<float, token_view<float const>>,
                                  linear_attention_problem<double>, retnet_problem<double>,
                                  delta_net_problem<double>, gated_delta_net_problem<float>,
                                  gated_delta_net_problem<double>, kimi_problem<double>,
                                  rwkv7_problem<double>, vla_delta_net_problem<double>>;
TYPED_TEST_SUITE(ShardedMemory, memories);

TYPED_TEST(ShardedMemory, KeepsTheLaws) {
  constexpr bool single = std::is_same_v<accumulate_type<operator_of<TypeParam>>, float>;
  for (memory_size const& size : {memory_size{1, 70, 3, 5, 7}, {2, 66, 4, 16, 33, 2}})
    support::expect_to_hold(check_sharded_laws(TypeParam(size), single ? 1e-6 : 1e-12));
}

}  // namespace
}  // namespace wane::testing
