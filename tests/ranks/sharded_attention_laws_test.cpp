// sharded_run and sharded_adjoint keep their laws for local attention and for VORT's layer.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/laws_hold.hpp"
#include "support/local_attention_problem.hpp"
#include "support/vort_problem.hpp"
#include "wane/testing/sharded_laws.hpp"

namespace wane::testing {
namespace {

static_assert(sharded_differentiable_problem<local_attention_problem<double>>);
static_assert(sharded_differentiable_problem<vort_problem<double>>);

// Windows that end within a rank, or reach over several.
TEST(ShardedLocalAttention, KeepsTheLaws) {
  for (index window : {1, 5, 40, 300}) {
    support::expect_to_hold(
        check_sharded_laws(local_attention_problem<double>({1, 90, 2, 5, 7}, window), 1e-12));
    support::expect_to_hold(check_sharded_laws(
        local_attention_problem<double>({2, 60, 4, 3, 9, 2}, window, 0, true), 1e-12));
  }
  support::expect_to_hold(
      check_sharded_laws(local_attention_problem<float>({1, 150, 3, 16, 9}, 20), 1e-6));
}

TEST(ShardedVortLayer, KeepsTheLaws) {
  for (memory_size const& size :
       {memory_size{1, 90, 2, 5, 7}, {2, 66, 2, 3, 17}, {1, 40, 1, 4, 1}}) {
    support::expect_to_hold(check_sharded_laws(vort_problem<double>(size), 1e-12));
    support::expect_to_hold(
        check_sharded_laws(vort_problem<double, normaliser::undecayed>(size), 1e-12));
  }
  support::expect_to_hold(check_sharded_laws(vort_problem<float>({1, 80, 2, 4, 9}), 1e-6));
}

}  // namespace
}  // namespace wane::testing
