// Checks that tensors fit a recurrence: tensors that pass, and the message for each fault.
// SPDX-License-Identifier: MIT
#include "wane/core/recurrence/checks.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace {

using support::expect_error;
using wane::index;

constexpr wane::recurrence_shape shape{2, 3, 4, 5, 6};
double const data[2 * 3 * 4 * 6] = {};

using values = wane::sequence_view<double const>;
using numbers = wane::token_view<double const>;

TEST(Checks, PassWhatFits) {
  EXPECT_NO_THROW(wane::check_extent("x", "rows", 7, 7));
  EXPECT_NO_THROW(wane::check("v", values(data, 2, 3, 4, 6), shape));
  EXPECT_NO_THROW(wane::check("k", values(data, 2, 3, 4, 5), wane::shape_of_rows(shape)));
  EXPECT_NO_THROW(wane::impl::check_channels("y", values(data, 2, 3, 4, 1), shape, "outputs", 1));
  EXPECT_NO_THROW(wane::check("alpha", numbers(data, 2, 3, 4), shape));
}

TEST(Checks, NameTheTensorAndTheExtentAndBothNumbers) {
  expect_error({"x has rows 7; it must be 8"}, [] { wane::check_extent("x", "rows", 7, 8); });
  char const* const names[] = {"batch", "time", "heads", "columns"};
  for (int n = 0; n < 4; ++n) {
    values v(data, 2, 3, 4, 6);
    index const right = v.extent[n]--;
    std::string const says = std::string(" has ") + names[n] + " " + std::to_string(right - 1) +
                             "; it must be " + std::to_string(right);
    expect_error({"v" + says}, [&] { wane::check("v", v, shape); });
    if (n == 3) continue;
    numbers alpha(data, 2, 3, 4);
    --alpha.extent[n];
    expect_error({"alpha" + says}, [&] { wane::check("alpha", alpha, shape); });
  }
  expect_error({"k has rows 6; it must be 5"},
               [] { wane::check("k", values(data, 2, 3, 4, 6), wane::shape_of_rows(shape)); });
  expect_error({"y has outputs 6; it must be 7"}, [] {
    wane::impl::check_channels("y", values(data, 2, 3, 4, 6), shape, "outputs", 7);
  });
}

// An empty recurrence has no data.
TEST(Checks, AskForDataWhereThereIsSomethingToRead) {
  expect_error({"v has no data; it must point to its values"},
               [] { wane::check("v", values(nullptr, 2, 3, 4, 6), shape); });
  expect_error({"alpha has no data"},
               [] { wane::check("alpha", numbers(nullptr, 2, 3, 4), shape); });
  EXPECT_NO_THROW(wane::check("v", values(nullptr, 2, 0, 4, 6), {2, 0, 4, 5, 6}));
  EXPECT_NO_THROW(wane::check("v", values(nullptr, 2, 3, 4, 0), {2, 3, 4, 5, 0}));
  EXPECT_NO_THROW(wane::check("alpha", numbers(nullptr, 2, 3, 0), {2, 3, 0, 5, 6}));
}

// Absent ones may have any shape; those that are there may not.
TEST(Checks, SkipWhatIsAbsent) {
  EXPECT_NO_THROW(wane::check_if_present("v", values(), shape));
  EXPECT_NO_THROW(wane::check_if_present("k", values(), wane::shape_of_rows(shape)));
  EXPECT_NO_THROW(wane::check_if_present("alpha", numbers(nullptr, 9, 9, 9), shape));
  expect_error({"v has time 2"},
               [] { wane::check_if_present("v", values(data, 2, 2, 4, 6), shape); });
  expect_error({"k has rows 6"}, [] {
    wane::check_if_present("k", values(data, 2, 3, 4, 6), wane::shape_of_rows(shape));
  });
  expect_error({"alpha has heads 1"},
               [] { wane::check_if_present("alpha", numbers(data, 2, 3, 1), shape); });
}

}  // namespace
