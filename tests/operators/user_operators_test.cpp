// User operators: keyed, decaying, erasing, nonlinear, channelwise; against naive loops.
// SPDX-License-Identifier: MIT
#include "support/user_operators.hpp"

#include <gtest/gtest.h>

#include "support/keyed_case.hpp"
#include "support/linear_case.hpp"

namespace {

using support::arrangement;
using support::erases;
using support::forgets;
using support::index;
using support::keyed_case;
using wane::direction;

static_assert(wane::scannable<support::keyed_memory<double, forgets::by_row, erases::no>>);
static_assert(wane::affine_recurrence<support::keyed_memory<double, forgets::by_row, erases::yes>>);
static_assert(!wane::scannable<support::keyed_memory<double, forgets::by_row, erases::yes>>);
static_assert(!wane::channelwise<support::keyed_memory<double, forgets::never, erases::no>>);
static_assert(wane::diagonal_recurrence<support::tanh_cell>);
static_assert(!wane::affine_recurrence<support::tanh_cell>);
static_assert(wane::channelwise<support::slowing_sum> && wane::reads_lanes<support::slowing_sum>);
static_assert(!wane::diagonal_recurrence<int>);

template <class T, forgets Decay, erases Erase>
void expect_formula(double bound) {
  for (direction way : {direction::forward, direction::reverse})
    for (arrangement how : {arrangement::plain, arrangement::spread, arrangement::backwards}) {
      keyed_case<T, Decay, Erase> run(2, 37, 3, 5, 7, how);
      run.expect_run(way, {}, bound);
      run.expect_step(bound);
      keyed_case<T, Decay, Erase> packed(1, 37, 2, 3, 1, how);
      packed.expect_run(way, {0, 0, 1, 17, 17, 36, 37}, bound);
    }
}

TEST(UserOperators, LinearAttentionIsItsFormula) {
  expect_formula<double, forgets::never, erases::no>(1e-12);
}
TEST(UserOperators, MemoryThatDecaysByHeadIsItsFormula) {
  expect_formula<double, forgets::by_head, erases::no>(1e-12);
}
TEST(UserOperators, MemoryThatDecaysByRowIsItsFormula) {
  expect_formula<double, forgets::by_row, erases::no>(1e-12);
}
TEST(UserOperators, DeltaRuleIsItsFormula) {
  expect_formula<double, forgets::never, erases::yes>(1e-12);
}
TEST(UserOperators, GatedDeltaRuleByRowIsItsFormula) {
  expect_formula<double, forgets::by_row, erases::yes>(1e-12);
  // 37 tokens of 5 rows: some hundred roundings of random sign.
  expect_formula<float, forgets::by_row, erases::yes>(3 * 6e-8 * 15);
}

TEST(UserOperators, NonlinearCellRunsInOrderAndByStep) {
  for (direction way : {direction::forward, direction::reverse}) {
    support::tensor<double> x(2, 30, 2, 3), y(2, 30, 2, 3), z(2, 30, 2, 3);
    support::random_values random;
    x.fill([&](auto...) { return random.uniform(-1, 1); });
    support::tanh_cell const op{0.9, x.view()};
    wane::recurrent_state<double> state(op), stepped(op);
    wane::run(op, y.view(), wane::run_options<double>{.final = state, .direction = way});
    wane::step(op, z.view(), static_cast<wane::state_view<double>>(stepped));
    for (index b = 0; b < 2; ++b)
      for (index h = 0; h < 2; ++h)
        for (index c = 0; c < 3; ++c) {
          double s = 0;
          support::span_of_time{0, 30, way == direction::reverse}.for_each([&](index t) {
            s = std::tanh(0.9 * s + x(b, t, h, c));
            EXPECT_NEAR(y(b, t, h, c), s, 1e-14);
            if (way == direction::reverse) return;
            EXPECT_NEAR(z(b, t, h, c), s, 1e-14);
          });
          EXPECT_NEAR(state.values()[static_cast<std::size_t>((b * 2 + h) * 3 + c)], s, 1e-14);
        }
  }
}

TEST(UserOperators, ChannelwiseOneGoesThroughEveryLaneType) {
  for (index columns : {1, 2, 4, 8, 19, 64})
    for (arrangement how : {arrangement::plain, arrangement::series, arrangement::spread})
      for (direction way : {direction::forward, direction::reverse}) {
        index const time = 90;
        support::tensor<float> x(1, time, 1, columns, how), gate(1, time, 1, columns, how),
            y(1, time, 1, columns, how);
        support::random_values random;
        x.fill([&](auto...) { return random.uniform(-1, 1); });
        gate.fill([&](auto...) { return random.uniform(-1, 1); });
        wane::run(support::slowing_sum{x.view(), gate.view()}, y.view(),
                  wane::run_options<float>{.direction = way});
        support::nearness near;
        for (index c = 0; c < columns; ++c)
          support::naive_channel<false, double>(
              {0, time, way == direction::reverse}, 0.0, [&](index t) { return gate(0, t, 0, c); },
              [&](index t) { return double{x(0, t, 0, c)} * double{x(0, t, 0, c)}; },
              [&](index t, double h) { near.add(y(0, t, 0, c), h); });
        EXPECT_LT(near.both(), 1e-6) << columns << " columns";
      }
}

template <bool Lanes>
void expect_columns_to_fade_alone() {
  using memory = support::fading_columns<Lanes>;
  static_assert(wane::time_invariant<memory> && wane::reads_lanes<memory> == Lanes);
  index const time = 40, columns = 19;
  support::tensor<double> x(1, time, 1, columns), log_decays(1, 1, 1, columns),
      y(1, time, 1, columns), gradient(1, time, 1, columns);
  support::random_values random;
  x.fill([&](auto...) { return random.uniform(-1, 1); });
  log_decays.fill([&](auto...) { return random.uniform(-2, 0); });
  memory const op{x.view(), log_decays.view()};
  wane::run(op, y.view());
  wane::adjoint(op, wane::sequence_view<double const>(x.view()),
                typename memory::gradients{gradient.view()});
  support::nearness near;
  for (index c = 0; c < columns; ++c)
    for (bool reverse : {false, true})  // the gradient is the same recurrence run back
      support::naive_channel<false, double>(
          {0, time, reverse}, 0.0, [&](index) { return std::exp(log_decays(0, 0, 0, c)); },
          [&](index t) { return x(0, t, 0, c); },
          [&](index t, double h) { near.add(reverse ? gradient(0, t, 0, c) : y(0, t, 0, c), h); });
  EXPECT_LT(near.both(), 1e-14);
}

TEST(UserOperators, ColumnsOfATimeInvariantOneFadeAlone) { expect_columns_to_fade_alone<true>(); }
TEST(UserOperators, ValuesInLanesAndDecaysInNumbersAreReadInNumbers) {
  expect_columns_to_fade_alone<false>();
}

TEST(UserOperators, ChannelwiseOneWithoutLanesOfTokensRunsByColumns) {
  static_assert(wane::reads_lanes<support::self_gated_sum>);
  static_assert(!wane::reads_tokens<support::self_gated_sum>);
  for (index columns : {1, 4, 19}) {
    index const time = 40000;
    support::tensor<float> x(1, time, 1, columns), y(1, time, 1, columns);
    support::random_values random;
    x.fill([&](auto...) { return random.uniform(-1, 1); });
    wane::run(support::self_gated_sum{x.view()}, y.view(),
              wane::run_options<float>{.threads = 2, .threads_over_time = true});
    support::nearness near;
    for (index c = 0; c < columns; ++c)
      support::naive_channel<false, double>(
          {0, time, false}, 0.0, [&](index t) { return x(0, t, 0, c); },
          [&](index t) { return x(0, t, 0, c); },
          [&](index t, double h) { near.add(y(0, t, 0, c), h); });
    EXPECT_LT(near.both(), 1e-6) << columns << " columns";
  }
}

}  // namespace
