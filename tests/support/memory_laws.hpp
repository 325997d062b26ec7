// The laws of recurrences and of their adjoints for a keyed memory, in sizes that its runners know.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/laws_hold.hpp"
#include "support/memory_problems.hpp"
#include "wane/testing/adjoint_laws.hpp"
#include "wane/testing/laws.hpp"

namespace support {

// Batch, time, heads, rows, columns, groups of heads, options.
template <template <class> class Problem>
void expect_memory_laws() {
  using wane::head_groups;
  for (wane::testing::memory_size const& size :
       {wane::testing::memory_size{1, 200, 3, 1, 1},
        {1, 129, 2, 5, 7},
        {1, 64, 1, 17, 65},
        {1, 66, 5, 65, 3},
        {1, 70, 6, 5, 4, 2, {.groups = head_groups::tiled}},
        {1, 90, 2, 8, 9, 0, {.scale = -0.7, .normalise = true, .epsilon = 0.01}}}) {
    expect_to_hold(wane::testing::check_laws(Problem<float>(size), 1e-6), "in float, ");
    expect_to_hold(wane::testing::check_laws(Problem<double>(size), 1e-12), "in double, ");
  }
}
// The sizes are small because the laws of the adjoint take differences of many runs.
template <template <class> class Problem>
void expect_memory_adjoint_laws() {
  for (wane::testing::memory_size const& size :
       {wane::testing::memory_size{1, 40, 1, 1, 1},
        {2, 66, 2, 3, 5},
        {1, 17, 1, 17, 8},
        {1, 35, 6, 3, 4, 2},
        {1, 50, 2, 5, 9, 0, {.scale = -0.7, .normalise = true, .epsilon = 0.01}}}) {
    Problem<double> problem(size);
    expect_to_hold(wane::testing::check_adjoint_laws(problem), "adjoint, ");
  }
}

}  // namespace support
