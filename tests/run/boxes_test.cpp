// A run of some sequences, heads or columns, and boxes that are refused.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"
#include "support/memory_problems.hpp"
#include "wane/run/run.hpp"
#include "wane/testing/compare.hpp"

namespace wane::testing {
namespace {

TEST(Box, LeavesTheOthersAlone) {
  gla_problem<float> const problem({2, 40, 4, 6, 40});
  auto const op = problem.make(0, 40);
  result<float> whole({2, 40, 4, 6, 40}, recurrent_state<float>(op)), parts = whole;
  run(op, whole.view(), run_options<float>{.final = whole.state});
  for (index head : {0, 1, 3})
    for (index column : {0, 16})
      run(op, parts.view(),
          run_options<float>{.final = parts.state,
                             .box = {.first_head = head,
                                     .heads = head == 1 ? 2 : 1,
                                     .first_column = column,
                                     .columns = column == 0 ? 16 : -1}});
  EXPECT_TRUE(parts.same_bits(whole));
  result<float> one({2, 40, 4, 6, 40}, recurrent_state<float>(op));
  run(op, one.view(),
      run_options<float>{.final = one.state, .box = {.first_sequence = 1, .first_head = 3}});
  EXPECT_TRUE(std::isnan(one.view()(0, 5, 3, 0)) && std::isnan(one.view()(1, 5, 2, 0)));
  EXPECT_EQ(one.view()(1, 39, 3, 7), whole.view()(1, 39, 3, 7));
  EXPECT_EQ(one.state.positions(), (std::vector<index>{0, 40}));
  support::expect_error({"box has heads 3 to 5; they must lie in 0 to 4"}, [&] {
    run(op, one.view(), run_options<float>{.box = {.first_head = 3, .heads = 2}});
  });
  support::expect_error({"box has columns 3 to 40; both must be multiples of 16"}, [&] {
    run(op, one.view(), run_options<float>{.box = {.first_column = 3}});
  });
}

}  // namespace
}  // namespace wane::testing
