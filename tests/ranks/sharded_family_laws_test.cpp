// sharded_run and sharded_adjoint keep their laws for levels, substeps, led memories and steps.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/erasing_problems.hpp"
#include "support/laws_hold.hpp"
#include "support/log_linear_problem.hpp"
#include "support/mamba3_problem.hpp"
#include "support/mesa_problem.hpp"
#include "support/mlstm_problem.hpp"
#include "support/rwkv4_problem.hpp"
#include "support/rwkv6_problem.hpp"
#include "support/substep_problems.hpp"
#include "wane/testing/sharded_laws.hpp"

namespace wane::testing {
namespace {

template <class P>
struct ShardedFamily : ::testing::Test {};
using memories =
    ::testing::Types<rwkv6_problem<double>, comba_problem<double>, log_linear_problem<double>,
                     log_linear_of_problem<gated_delta_net_problem, double>,
                     delta_product_problem<double, 2>, mamba3_problem<double>, mesa_problem<double>,
                     mlstm_problem<double>>;
TYPED_TEST_SUITE(ShardedFamily, memories);

TYPED_TEST(ShardedFamily, KeepsTheLaws) {
  support::expect_to_hold(check_sharded_laws(TypeParam({1, 70, 3, 5, 7}), 1e-11));
}

TEST(ShardedRwkv4, Holds) {
  support::expect_to_hold(check_sharded_laws(rwkv4_problem<double>(1, 70, 3, 7), 1e-11));
}

}  // namespace
}  // namespace wane::testing
