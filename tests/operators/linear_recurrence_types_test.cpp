// linear_recurrence of complex numbers, 16-bit storage and mixed precisions is its formula.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/linear_case.hpp"

namespace {

using support::arrangement;
using support::bound_of;
using support::index;
using support::linear_error;
using support::linear_shape;
using wane::decay_as;
using wane::direction;

// Half an ulp of the stored type, relative to a number.
template <class Io>
constexpr double rounding = 0;
template <>
constexpr double rounding<wane::bfloat16> = 0x1p-9;
template <>
constexpr double rounding<wane::float16> = 0x1p-12;
template <>
constexpr double rounding<float> = 0x1p-25;

template <class Io, class Accumulate, class Body>
void for_many_shapes(Body const& body) {
  for (index time : {1, 3, 64, 127, 1000})
    for (index columns : {1, 2, 8, 17, 64}) body(linear_shape{.time = time, .columns = columns});
  for (arrangement how : support::all_arrangements)
    for (direction way : {direction::forward, direction::reverse})
      for (index columns : {1, 4, 19}) body(linear_shape{2, 70, 2, columns, how, how, way});
}

template <decay_as Form, class Io, class Accumulate = wane::widened<Io>>
void expect_definition() {
  for_many_shapes<Io, Accumulate>([](linear_shape const& s) {
    double const bound = bound_of<Accumulate>(s.time) + 2 * rounding<Io>;
    EXPECT_LT((linear_error<Form, Io, Accumulate>(s)), bound) << s.time << ", " << s.columns;
  });
}

TEST(LinearRecurrenceTypes, ComplexNumbersAreTheirFormula) {
  expect_definition<decay_as::log, std::complex<float>>();
  expect_definition<decay_as::factor, std::complex<float>>();
  expect_definition<decay_as::log, std::complex<double>>();
  expect_definition<decay_as::factor, std::complex<double>>();
}
TEST(LinearRecurrenceTypes, Bfloat16IsItsFormula) {
  expect_definition<decay_as::log, wane::bfloat16>();
}
TEST(LinearRecurrenceTypes, Float16IsItsFormula) {
  expect_definition<decay_as::factor, wane::float16>();
}
TEST(LinearRecurrenceTypes, FloatInDoubleIsItsFormula) {
  expect_definition<decay_as::log, float, double>();
}

TEST(LinearRecurrenceTypes, SixteenBitsOfOutputAreTheFloatStateRounded) {
  support::linear_case<decay_as::log, wane::bfloat16> run({.time = 200, .columns = 9});
  run.run();
  wane::linear_recurrence<decay_as::log, wane::bfloat16> const op = run.op();
  support::tensor<float> exact(1, 200, 1, 9);
  wane::run(op, exact.view(), run.options());
  exact.for_each([&](index b, index t, index h, index c) {
    EXPECT_EQ(run.output(b, t, h, c).bits, wane::bfloat16(exact(b, t, h, c)).bits);
  });
}

TEST(LinearRecurrenceTypes, OutputMayBeOfAnotherTypeThanTheInputs) {
  support::linear_case<decay_as::factor, float> run({.time = 100, .columns = 33});
  run.run();
  support::tensor<double> wide(1, 100, 1, 33);
  support::tensor<wane::float16> half(1, 100, 1, 33);
  wane::run(run.op(), wide.view(), run.options());
  wane::run(run.op(), half.view(), run.options());
  run.output.for_each([&](index b, index t, index h, index c) {
    EXPECT_EQ(wide(b, t, h, c), static_cast<double>(run.output(b, t, h, c)));
    EXPECT_EQ(half(b, t, h, c).bits, wane::float16(run.output(b, t, h, c)).bits);
  });
}

TEST(LinearRecurrenceTypes, StateMayBeMorePreciseThanTheArithmetic) {
  support::linear_case<decay_as::log, float> run({.time = 50, .columns = 20});
  run.run();
  wane::recurrent_state<double> before(1, 1, 1, 20), after(1, 1, 1, 20);
  std::copy(run.initial.values().begin(), run.initial.values().end(), before.values().begin());
  support::tensor<float> y(1, 50, 1, 20);
  wane::run_options<double> options;
  options.initial = std::as_const(before);
  options.final = after;
  wane::run(run.op(), y.view(), options);
  for (std::size_t c = 0; c < 20; ++c)
    EXPECT_EQ(after.values()[c], static_cast<double>(run.final.values()[c]));
}

}  // namespace
