// The adjoint of linear_recurrence against derivatives of the naive loop by complex steps.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstring>

#include "support/linear_gradients.hpp"

namespace {

using support::arrangement;
using support::index;
using support::linear_gradients;
using support::linear_shape;
using wane::decay_as;
using wane::direction;

template <decay_as Form, class Io, class Accumulate = wane::widened<Io>>
void expect_right(linear_shape const& s, double bound = 1e-9) {
  linear_gradients<Form, Io, Accumulate> gradients(s);
  for (bool const from_outputs : {false, true}) {
    if (from_outputs)
      gradients.find_from_outputs();
    else
      gradients.find();
    EXPECT_LT(gradients.error(), bound)
        << s.batch << " x " << s.time << " x " << s.heads << " x " << s.columns << ", layouts "
        << static_cast<int>(s.inputs) << static_cast<int>(s.output) << from_outputs;
  }
  EXPECT_TRUE(gradients.decay.margins_untouched() && gradients.drive.margins_untouched());
}
void expect_right_in_double(linear_shape const& s) {
  expect_right<decay_as::log, double>(s);
  expect_right<decay_as::factor, double>(s);
}

TEST(AdjointOfLinearRecurrence, IsTheDerivativeForRaggedSizes) {
  for (index time : {1, 2, 3, 15, 16, 17, 63, 64, 65, 127, 130})
    for (index columns : {1, 2, 3, 8, 9, 17, 75})
      expect_right_in_double({.time = time, .columns = columns});
}

TEST(AdjointOfLinearRecurrence, IsTheDerivativeInEveryLayoutAndDirection) {
  for (arrangement how : support::all_arrangements)
    for (direction way : {direction::forward, direction::reverse}) {
      expect_right_in_double({2, 20, 3, 5, how, arrangement::plain, way});
      expect_right_in_double({2, 20, 3, 5, arrangement::odd, how, way});
      expect_right_in_double({2, 33, 1, 4, how, how, way, false});
    }
}

TEST(AdjointOfLinearRecurrence, IsTheDerivativeForFewChannels) {
  for (direction way : {direction::forward, direction::reverse})
    for (index columns : {1, 2, 4, 8}) {
      linear_shape s{.time = 83, .columns = columns, .direction = way};
      expect_right_in_double(s);
      s.starts = {0, 0, 1, 20, 20, 64, 83};
      expect_right_in_double(s);
      expect_right<decay_as::factor, float>({.time = 100, .columns = columns}, 9 * 6e-8 * 10);
      expect_right<decay_as::log, wane::bfloat16>({.time = 100, .columns = columns}, 0x1p-8);
    }
  for (arrangement how : support::all_arrangements)
    expect_right_in_double({2, 75, 2, 3, how, how, direction::reverse});
}

// Few channels are taken in chunks of 4096 numbers where their tokens have no gaps.
TEST(AdjointOfLinearRecurrence, OfManyTokensOfFewChannelsIsTheSameWithGaps) {
  for (direction way : {direction::forward, direction::reverse})
    for (index columns : {1, 2, 4, 8})
      for (bool from_outputs : {false, true}) {
        linear_shape s{.time = 8192 / columns + 75, .columns = columns, .direction = way};
        linear_gradients<decay_as::log, double> plain(s);
        s.inputs = s.output = arrangement::spread;
        linear_gradients<decay_as::log, double> with_gaps(s);
        if (from_outputs)
          plain.find_from_outputs(), with_gaps.find_from_outputs();
        else
          plain.find(), with_gaps.find();
        support::nearness near;
        plain.decay.for_each([&](index b, index t, index h, index c) {
          near.add(plain.decay(b, t, h, c), with_gaps.decay(b, t, h, c));
          near.add(plain.drive(b, t, h, c), with_gaps.drive(b, t, h, c));
        });
        near.add(plain.initial.values()[0], with_gaps.initial.values()[0]);
        EXPECT_LT(near.both(), 1e-14) << columns << from_outputs;
      }
}

TEST(AdjointOfLinearRecurrence, IsTheDerivativeForPackedSequences) {
  for (direction way : {direction::forward, direction::reverse})
    for (index columns : {1, 5, 16}) {
      linear_shape s{.time = 100, .heads = 2, .columns = columns, .direction = way};
      s.starts = {0, 0, 1, 20, 20, 84, 99, 100, 100};
      expect_right_in_double(s);
    }
}

TEST(AdjointOfLinearRecurrence, OfComplexNumbersIsTheDerivativeByBothParts) {
  linear_shape s{2, 40, 2, 3, arrangement::plain, arrangement::plain, direction::reverse};
  expect_right<decay_as::log, std::complex<double>>(s);
  expect_right<decay_as::factor, std::complex<double>>(s);
  s.direction = direction::forward;
  expect_right<decay_as::log, std::complex<double>>(s);
  // Sums of 40 terms in float.
  expect_right<decay_as::log, std::complex<float>>(s, 4e-6);
}

TEST(AdjointOfLinearRecurrence, OfFloatsAndStoredTypesIsTheDerivative) {
  // A rounding a token of the state, the cotangent and their product: 3 sqrt(T) eps, thrice.
  linear_shape const s{.batch = 2, .time = 100, .heads = 2, .columns = 19};
  expect_right<decay_as::log, float>(s, 9 * 6e-8 * 10);
  expect_right<decay_as::factor, float>(s, 9 * 6e-8 * 10);
  expect_right<decay_as::log, float, double>(s, 1e-7);
  expect_right<decay_as::log, wane::bfloat16>(s, 0x1p-8);
}

// Long enough for stores that go past the caches.
TEST(AdjointOfLinearRecurrence, OfLongRunsIsTheSameFromInputsAndOutputs) {
  for (index columns : {16, 64, 300}) {
    linear_shape const s{.time = (1 << 20) / columns, .columns = columns};
    linear_gradients<decay_as::log, float> by_inputs(s), by_outputs(s);
    by_inputs.find(), by_outputs.find_from_outputs();
    index differing = 0;
    by_inputs.decay.for_each([&](index b, index t, index h, index c) {
      differing += by_inputs.decay(b, t, h, c) != by_outputs.decay(b, t, h, c) ||
                   by_inputs.drive(b, t, h, c) != by_outputs.drive(b, t, h, c);
    });
    EXPECT_EQ(differing, 0) << columns;
    EXPECT_EQ(by_inputs.initial.values(), by_outputs.initial.values());
  }
}

TEST(AdjointOfLinearRecurrence, RefusesOutputsOfAnotherShape) {
  linear_gradients<decay_as::log, double> of({.time = 7, .columns = 5});
  std::vector<double> y(6 * 5);
  auto options = of.options();
  options.outputs = {y.data(), 1, 6, 1, 5};
  EXPECT_THROW(wane::adjoint(of.run.op(), of.output_gradient.view(), {.drive = of.drive}, options),
               wane::error);
}

TEST(AdjointOfLinearRecurrence, MayLeaveOutAnyGradient) {
  linear_gradients<decay_as::log, double> all({.time = 70, .columns = 5}), some(all.run.shape);
  all.find();
  wane::adjoint(some.run.op(), some.output_gradient.view(), {.drive = some.drive}, some.options());
  auto without = some.options();
  without.initial_gradient = {};
  wane::adjoint(some.run.op(), some.output_gradient.view(), {.decay = some.decay}, without);
  wane::adjoint(some.run.op(), some.output_gradient.view(), {}, without);
  all.decay.for_each([&](index b, index t, index h, index c) {
    EXPECT_EQ(all.decay(b, t, h, c), some.decay(b, t, h, c));
    EXPECT_EQ(all.drive(b, t, h, c), some.drive(b, t, h, c));
  });
  EXPECT_EQ(all.initial.values(), some.initial.values());
}

TEST(AdjointOfLinearRecurrence, OfNoTokensHandsTheFinalGradientThrough) {
  linear_gradients<decay_as::log, double> none({.batch = 2, .time = 0, .heads = 3, .columns = 5});
  none.find();
  EXPECT_EQ(none.initial.values(), none.final_gradient.values());
}

TEST(AdjointOfLinearRecurrence, HasTheSameBitsForAnyNumberOfThreads) {
  for (linear_shape s : {linear_shape{.batch = 2, .time = 150, .heads = 3, .columns = 21},
                         linear_shape{.time = 150, .columns = 205}}) {
    linear_gradients<decay_as::factor, float> one(s);
    one.find();
    for (int threads : {2, 3, 7}) {
      s.threads = threads;
      linear_gradients<decay_as::factor, float> more(s);
      more.find();
      one.decay.for_each([&](index b, index t, index h, index c) {
        ASSERT_EQ(one.decay(b, t, h, c), more.decay(b, t, h, c));
        ASSERT_EQ(one.drive(b, t, h, c), more.drive(b, t, h, c));
      });
      EXPECT_EQ(one.initial.values(), more.initial.values());
    }
  }
}

}  // namespace
