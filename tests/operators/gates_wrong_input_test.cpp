// Wrong input to gates: the messages for shapes, and for values of parameters.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "support/expect_error.hpp"
#include "wane/operators/gates/gates.hpp"

namespace {

using support::expect_error;
using wane::index;

// 2 x 5 tokens, 3 heads of 4 rows.
struct GatesRefuse : testing::Test {
  static constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  wane::recurrence_shape shape{2, 5, 3, 4, 7};
  std::vector<float> raw = std::vector<float>(120, -1.f), gradient = std::vector<float>(120, -7.f);
  std::vector<float> numbers = std::vector<float>(12, -1.f), sums = std::vector<float>(12, -7.f);

  wane::sequence_view<float const> rows() const { return {raw.data(), 2, 5, 3, 4}; }
  wane::token_view<float const> heads() const { return {raw.data(), 2, 5, 3}; }
  wane::view<float const, 1> of_heads(index count = 3) const { return {numbers.data(), count}; }
  wane::view<float const, 2> of_rows(index h = 3, index k = 4) const {
    return {numbers.data(), h, k};
  }
  ~GatesRefuse() override {
    for (float x : gradient) EXPECT_EQ(x, -7.f) << "written in spite of the error";
    for (float x : sums) EXPECT_EQ(x, -7.f) << "written in spite of the error";
  }
};

TEST_F(GatesRefuse, ParametersOfAnotherShape) {
  wane::softplus_gate(rows(), {.log_rate = of_heads(), .bias = of_rows(), .taper = {of_heads()}})
      .check(shape);
  expect_error({"log_rate", "heads 2", "must be 3"},
               [&] { wane::softplus_gate(rows(), {.log_rate = of_heads(2)}).check(shape); });
  expect_error({"bias", "rows 2", "must be 4"}, [&] {
    wane::softplus_gate(rows(), {.log_rate = of_heads(), .bias = of_rows(3, 2)}).check(shape);
  });
  expect_error({"the taper", "rows 4", "must be 1"},
               [&] { wane::tapered_gate(heads(), {of_rows()}).check(shape); });
  expect_error({"the taper", "heads 4"},
               [&] { wane::constant_gate<float>(of_heads(), {of_heads(4)}).check(shape); });
}

TEST_F(GatesRefuse, AnInputOfAnotherShape) {
  shape.time = 6;
  expect_error({"the gate's input", "time 5", "must be 6"},
               [&] { wane::log_sigmoid_gate(rows()).check(shape); });
  shape.time = 5, shape.rows = 3;
  expect_error({"the gate's input", "rows 4", "must be 3"},
               [&] { wane::log_sigmoid_gate(rows()).check(shape); });
}

TEST_F(GatesRefuse, ConstantsThatAreAbsent) {
  wane::view<float const, 1> const none(nullptr, index{3});
  expect_error({"log_decay has no data"}, [&] { wane::constant_gate<float> const gate(none); });
  expect_error({"log_rate has no data"}, [&] { wane::constant_rate_gate<float> const gate(none); });
}

TEST_F(GatesRefuse, ValuesOfParameters) {
  numbers.assign(12, 0.5f);
  numbers[1] = 1.25f;
  expect_error({"the taper is 1.25 at head 1, row 0", "[0, 1]"},
               [&] { wane::tapered_gate(heads(), {of_heads()}).check_parameters(); });
  expect_error({"log_decay is 0.5 at head 0", "must be in [-inf, 0]"},
               [&] { wane::constant_gate<float>(of_heads()).check_parameters(); });
  numbers[1] = nan;
  for (auto const& gate : {wane::softplus_gate(heads(), {.log_rate = of_heads()}),
                           wane::softplus_gate(heads(), {.bias = of_heads()}),
                           wane::softplus_gate(heads(), {.taper = {of_heads()}})})
    expect_error({"is nan at head 1", "must be in ["}, [&] { gate.check_parameters(); });
}

TEST_F(GatesRefuse, ScalesThatAreNone) {
  for (double trained_at : {0.0, -2.0, std::numeric_limits<double>::infinity()})
    expect_error({"trained_at is", "must be a positive number of steps"}, [&] {
      wane::tapered_gate(rows(), {of_heads(), trained_at}).check(shape);
    });
  expect_error({"normaliser is 0", "must be positive"},
               [&] { wane::log_sigmoid_gate(rows(), {.normaliser = 0}); });
}

TEST_F(GatesRefuse, GradientsOfAnotherShape) {
  numbers.assign(12, 0.5f);
  wane::softplus_gate const gate(rows(), {.log_rate = of_heads(), .taper = {of_rows()}});
  wane::sequence_view<float> const whole(gradient.data(), 2, 5, 3, 4);
  wane::view<float, 1> const by_head(sums.data(), 3);
  wane::view<float, 2> const by_row(sums.data(), 3, 4);
  expect_error({"the gradient of log_rate has shape [3, 4]", "[3, 1]"},
               [&] { wane::gate_adjoint(gate, whole, {.raw = whole, .log_rate = by_row}); });
  expect_error({"the gradient of the taper has shape [3, 1]", "[3, 4]"},
               [&] { wane::gate_adjoint(gate, whole, {.raw = whole, .taper = by_head}); });
  expect_error({"the gradient of bias is asked for", "no bias"},
               [&] { wane::gate_adjoint(gate, whole, {.raw = whole, .bias = by_head}); });
  expect_error({"the gradient of raw", "time 4", "must be 5"}, [&] {
    wane::gate_adjoint(gate, whole, {.raw = whole.tokens(0, 4), .log_rate = by_head});
  });
  expect_error({"the gate's input", "time 5", "must be 4"},
               [&] { wane::gate_adjoint(gate, whole.tokens(0, 4), {.log_rate = by_head}); });
  index const starts[] = {0, 5};
  expect_error({"batch is 2"}, [&] {
    wane::gate_adjoint(gate, whole, {.log_rate = by_head}, {.packed = {starts}});
  });
}

}  // namespace
