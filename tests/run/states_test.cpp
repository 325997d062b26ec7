// Initial and final states, positions, runs without tokens, and both directions of time.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/bank_case.hpp"
#include "support/user_operators.hpp"

namespace {

using support::index;
using support::linear_case;
using wane::decay_as;
using wane::direction;

TEST(Run, OfNoTokensReturnsTheInitialState) {
  linear_case<decay_as::log, float> linear({.batch = 2, .time = 0, .heads = 3, .columns = 5});
  linear.run();
  EXPECT_EQ(linear.final.values(), linear.initial.values());
  support::bank_case<float> bank({17, {.batch = 2, .time = 0, .heads = 3, .columns = 5}});
  for (auto& key : bank.key) key = 1;
  bank.run();
  EXPECT_EQ(bank.final.values(), bank.initial.values());
  // Nothing to read or write: no data is needed either.
  wane::sequence_view<float> const nothing(nullptr, 2, 0, 3, 5);
  wane::run(wane::linear_recurrence<decay_as::log, float>({.decay = nothing, .drive = nothing}),
            nothing);
}

TEST(Run, WithoutFinalStateGivesTheSameOutput) {
  linear_case<decay_as::log, float> a({.time = 90, .columns = 20}), b({.time = 90, .columns = 20});
  a.run();
  auto options = b.options();
  options.final = {};
  wane::run(b.op(), b.output.view(), options);
  a.output.for_each([&](index i, index t, index h, index c) {
    EXPECT_EQ(a.output(i, t, h, c), b.output(i, t, h, c));
  });
  EXPECT_TRUE(std::isnan(b.final.values()[0]));
}

TEST(Run, MayHaveItsFinalStateInTheMemoryOfTheInitialOne) {
  for (index columns : {1, 8, 37}) {
    linear_case<decay_as::log, float> run({.batch = 2, .time = 90, .heads = 2, .columns = columns});
    run.run();
    wane::recurrent_state<float> state = run.initial;
    state.positions() = {5, 7};
    auto options = run.options();
    options.initial = std::as_const(state);
    options.final = state;
    wane::run(run.op(), run.output.view(), options);
    EXPECT_EQ(state.values(), run.final.values());
    EXPECT_EQ(state.positions(), (std::vector<index>{95, 97}));
  }
}

TEST(Run, InReverseIsForwardOnReversedData) {
  for (index columns : {1, 4, 33}) {
    linear_case<decay_as::log, float> back({1, 100, 2, columns}, 3), ahead({1, 100, 2, columns}, 3);
    back.shape.direction = direction::reverse;
    ahead.decay.fill(
        [&](index b, index t, index h, index c) { return back.decay(b, 99 - t, h, c); });
    ahead.drive.fill(
        [&](index b, index t, index h, index c) { return back.drive(b, 99 - t, h, c); });
    back.run();
    ahead.run();
    ahead.output.for_each([&](index b, index t, index h, index c) {
      EXPECT_EQ(ahead.output(b, t, h, c), back.output(b, 99 - t, h, c));
    });
    EXPECT_EQ(ahead.final.values(), back.final.values());
  }
}

// y_t = position of token t.
TEST(Positions, CountFromOneAndGoOnWhereTheStateStopped) {
  support::position_sum const op{{2, 3, 1, 1, 1}};
  support::tensor<double> y(2, 3, 1, 1);
  wane::recurrent_state<double> state(op);
  wane::run(op, y.view(), wane::run_options<double>{.final = state});
  EXPECT_EQ(y(1, 2, 0, 0), 3);
  EXPECT_EQ(state.positions(), (std::vector<index>{3, 3}));
  state.positions()[1] = index{1} << 41;
  wane::run_options<double> more{.initial = std::as_const(state), .final = state};
  wane::run(op, y.view(), more);
  EXPECT_EQ(y(0, 0, 0, 0), 4);
  EXPECT_EQ(y(1, 0, 0, 0), 0x1p41 + 1);
  EXPECT_EQ(y(1, 2, 0, 0), 0x1p41 + 3);
  EXPECT_EQ(state.positions()[1], (index{1} << 41) + 3);
  wane::step(op, y.view(), static_cast<wane::state_view<double>>(state));
  EXPECT_EQ(y(0, 2, 0, 0), 9);
  EXPECT_EQ(y(1, 2, 0, 0), 0x1p41 + 6);
  EXPECT_EQ(state.positions(), (std::vector<index>{9, (index{1} << 41) + 6}));
}

TEST(Positions, CountInTheOrderOfTheWalk) {
  support::position_sum const op{{1, 4, 2, 1, 3}};
  support::tensor<double> y(1, 4, 2, 3);
  wane::run(op, y.view(), wane::run_options<double>{.direction = direction::reverse});
  for (index t = 0; t < 4; ++t) EXPECT_EQ(y(0, t, 1, 2), 4.0 - static_cast<double>(t));
}

TEST(Positions, BeginAnewInEveryPackedSequence) {
  support::position_sum const op{{1, 7, 1, 1, 1}};
  support::tensor<double> y(1, 7, 1, 1);
  std::vector<index> const starts = {0, 0, 3, 3, 7};
  wane::recurrent_state<double> state(op, 4);
  state.positions() = {10, 20, 30, 40};
  wane::run_options<double> options{
      .initial = std::as_const(state), .final = state, .packed = {starts}};
  wane::run(op, y.view(), options);
  double const right[] = {21, 22, 23, 41, 42, 43, 44};
  for (index t = 0; t < 7; ++t) EXPECT_EQ(y(0, t, 0, 0), right[t]);
  EXPECT_EQ(state.positions(), (std::vector<index>{10, 23, 30, 44}));
}

TEST(Run, OverMoreThan2To40TokensByPiecesOfItsView) {
  // The token views have zero stride; only a few tokens are ever visited.
  float const decay = -0.5f, drive = 1;
  index const far = index{1} << 42;
  wane::sequence_view<float const> const a(&decay, {1, far, 1, 1}, {0, 0, 0, 0});
  wane::sequence_view<float const> const b(&drive, {1, far, 1, 1}, {0, 0, 0, 0});
  float y = 0;
  wane::sequence_view<float> const last(&y, {1, far, 1, 1}, {0, 0, 0, 0});
  wane::recurrent_state<float> state(1, 1, 1, 1);
  state.positions()[0] = far - 3;
  wane::linear_recurrence<decay_as::log, float> const op(
      {.decay = a.tokens(far - 3, far), .drive = b.tokens(far - 3, far)});
  wane::step(op, last.tokens(far - 3, far), static_cast<wane::state_view<float>>(state));
  EXPECT_NEAR(y, 1 + std::exp(-0.5) + std::exp(-1.0), 1e-6);
  EXPECT_EQ(state.positions()[0], far);
}

}  // namespace
