// Rows in lanes: every row once, and the same sum however the rows come.
// SPDX-License-Identifier: MIT
#include "wane/core/recurrence/row_lanes.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using wane::index;

template <class T>
void expect_every_row_once() {
  for (index rows : {0, 1, 15, 16, 17, 64, 67})
    for (bool in_lanes : {false, true}) {
      std::vector<T> x(static_cast<std::size_t>(rows)), twice(x.size(), T(0));
      T wanted(0);
      for (index i = 0; i < rows; ++i) {
        x[static_cast<std::size_t>(i)] = T(i + 1);
        wanted += T(i + 1) * T(i + 1);
      }
      index next = 0;
      wane::row_sum<T> sum;
      wane::for_row_lanes<T>(in_lanes, rows, [&](auto i) {
        EXPECT_EQ(wane::first_of(i), next);
        auto const row = wane::row_at(x.data(), i);
        if constexpr (wane::is_simd<std::remove_const_t<decltype(row)>>)
          next += decltype(row)::width;
        else
          next += 1;
        wane::set_row(twice.data(), i, row + row);
        sum.add(row, row);
      });
      EXPECT_EQ(next, rows);
      EXPECT_EQ(sum.total(), wanted);  // whole numbers: exact in any order
      for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(twice[i], 2 * x[i]);
    }
}
TEST(RowLanes, TakeEveryRowOnce) {
  expect_every_row_once<float>();
  expect_every_row_once<double>();
}

}  // namespace
