// An output in the memory of the operator's own per-token input.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/bank_case.hpp"

namespace {

using support::arrangement;
using support::index;
using wane::decay_as;
using wane::direction;

template <decay_as Form>
void expect_linear_in_place(index time, index columns, arrangement how, direction way) {
  support::linear_case<Form, float> apart(
      {.time = time, .columns = columns, .inputs = how, .output = how, .direction = way});
  support::linear_case<Form, float> over_drive(apart.shape), over_decay(apart.shape);
  apart.run();
  wane::run(over_drive.op(), over_drive.drive.view(), over_drive.options());
  wane::run(over_decay.op(), over_decay.decay.view(), over_decay.options());
  apart.output.for_each([&](index b, index t, index h, index c) {
    ASSERT_EQ(over_drive.drive(b, t, h, c), apart.output(b, t, h, c)) << columns;
    ASSERT_EQ(over_decay.decay(b, t, h, c), apart.output(b, t, h, c)) << columns;
  });
  EXPECT_EQ(over_drive.final.values(), apart.final.values());
}

TEST(InPlace, LinearRecurrenceGivesTheSameBits) {
  for (arrangement how : {arrangement::plain, arrangement::odd, arrangement::series,
                          arrangement::spread, arrangement::backwards})
    for (direction way : {direction::forward, direction::reverse})
      for (index columns : {1, 2, 8, 19, 64}) {
        expect_linear_in_place<decay_as::log>(97, columns, how, way);
        expect_linear_in_place<decay_as::factor>(97, columns, how, way);
      }
  // Outputs so large that stores go past the caches.
  expect_linear_in_place<decay_as::log>(2900, 256, arrangement::plain, direction::forward);
}

TEST(InPlace, BankGivesTheSameBits) {
  for (index rows : {1, 16, 17, 40})
    for (index columns : {1, 8, 37})
      for (arrangement how : {arrangement::plain, arrangement::odd, arrangement::series}) {
        support::bank_shape const s{
            rows, {.batch = 2, .time = 300, .columns = columns, .inputs = how, .output = how}};
        support::bank_case<float> apart(s), over(s);
        apart.run();
        wane::run(over.op(), over.values.view(), over.options());
        apart.output.for_each([&](index b, index t, index h, index c) {
          ASSERT_EQ(over.values(b, t, h, c), apart.output(b, t, h, c)) << rows << ", " << columns;
        });
        EXPECT_EQ(over.final.values(), apart.final.values());
      }
}

}  // namespace
