// Tensors with names: what they take, and what is absent. What they refuse does not compile:
// must_not_compile/mistake_*.cpp.
// SPDX-License-Identifier: MIT
#include "wane/core/recurrence/named.hpp"

#include <gtest/gtest.h>

namespace {

using wane::sequence_view;

struct tensors {
  wane::impl::by_name only = {};
  wane::impl::named<"read", sequence_view<float const>> read = {};
  wane::impl::named<"written", sequence_view<float>> written = {};
};

struct owner {
  float numbers[6] = {};
  operator sequence_view<float>() { return {numbers, 1, 3, 1, 2}; }
  operator sequence_view<float const>() const { return {numbers, 1, 3, 1, 2}; }
};

void expect_of(owner const& x, auto const& view) {
  EXPECT_EQ(view.data, x.numbers);
  EXPECT_EQ(view.extent[1], 3);
  EXPECT_EQ(view.stride[1], 2);
}

TEST(Named, TakesAViewAPointerOrWhatConverts) {
  owner x;
  sequence_view<float> const view = x;
  tensors const of_views{.read = view, .written = view};
  expect_of(x, of_views.read), expect_of(x, of_views.written);
  tensors const of_pointers{.read = {x.numbers, 1, 3, 1, 2}, .written = {x.numbers, 1, 3, 1, 2}};
  expect_of(x, of_pointers.read), expect_of(x, of_pointers.written);
  tensors const of_strides{.read = {x.numbers, {1, 3, 1, 2}, {6, 2, 2, 1}}};
  expect_of(x, of_strides.read);
  tensors const of_owners{.read = static_cast<owner const&>(x)};
  expect_of(x, of_owners.read);
}

TEST(Named, IsAbsentUntilGiven) {
  tensors all;
  EXPECT_EQ(all.read.data, nullptr);
  owner x;
  all.read = sequence_view<float const>(x);
  expect_of(x, all.read);
}

}  // namespace
