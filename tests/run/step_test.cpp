// step gives token by token what run gives, and does not allocate memory.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/bank_case.hpp"
#include "support/laplace_problem.hpp"
#include "support/memory_asked.hpp"
#include "support/retrieval_problem.hpp"
#include "support/user_operators.hpp"
#include "wane/operators/linear_attention.hpp"
#include "wane/operators/local_attention.hpp"
#include "wane/run/run.hpp"

namespace {

using support::index;
using wane::decay_as;

using support::laplace_problem;
using wane::spectra::window_shape;

template <class Op, class Out, class State>
std::ptrdiff_t allocations_of_step(Op const& op, wane::sequence_view<Out> y,
                                   wane::state_view<State> state) {
  std::ptrdiff_t const before = support::memory_taken.times;
  wane::step(op, y, state);
  return support::memory_taken.times - before;
}

TEST(Step, AllocatesNothing) {
  support::linear_case<decay_as::log, float> linear({.batch = 2, .time = 5, .columns = 1000});
  wane::recurrent_state<float> a = linear.initial;
  EXPECT_EQ(allocations_of_step(linear.op(), linear.output.view(),
                                static_cast<wane::state_view<float>>(a)),
            0);
  support::bank_case<wane::bfloat16> bank({40, {.batch = 2, .time = 3, .heads = 2, .columns = 50}});
  wane::recurrent_state<float> b = bank.initial;
  EXPECT_EQ(
      allocations_of_step(bank.op(), bank.output.view(), static_cast<wane::state_view<float>>(b)),
      0);
  support::tensor<double> x(2, 3, 2, 5), y(2, 3, 2, 5);
  x.fill([](auto...) { return 1; });
  support::tanh_cell const cell{0.5, x.view()};
  wane::recurrent_state<double> c(cell);
  EXPECT_EQ(allocations_of_step(cell, y.view(), static_cast<wane::state_view<double>>(c)), 0);
  for (index columns : {5, 33, 200}) {
    support::tensor<float> k(2, 3, 2, 4), v(2, 3, 2, columns), mean(2, 3, 2, columns);
    k.fill([](auto...) { return 1; }), v.fill([](auto...) { return 1; });
    wane::linear_attention<float> const attention({.query = k, .key = k, .value = v});
    wane::recurrent_state<float> d(attention);
    EXPECT_EQ(allocations_of_step(attention, mean.view(), static_cast<wane::state_view<float>>(d)),
              0);
    wane::local_attention<float> const local({.query = k, .key = k, .value = v}, {.window = 100});
    wane::recurrent_state<float> e(local);
    EXPECT_EQ(allocations_of_step(local, mean.view(), static_cast<wane::state_view<float>>(e)), 0);
    wane::sum_of const both(attention, local);
    wane::recurrent_state<float> f(both);
    EXPECT_EQ(allocations_of_step(both, mean.view(), static_cast<wane::state_view<float>>(f)), 0);
  }
}

template <class Problem>
void expect_no_allocations() {
  Problem const problem({.tokens = 9, .columns = 150, .width = 4.5});
  auto const op = problem.make(0, 9);
  using V = wane::accumulate_type<typename Problem::operation>;
  support::tensor<wane::real_type<V>> y(2, 9, 2, 150);
  wane::recurrent_state<V> state(op);
  EXPECT_EQ(allocations_of_step(op, y.view(), static_cast<wane::state_view<V>>(state)), 0);
}

TEST(Step, AllocatesNothingForWindows) {
  expect_no_allocations<laplace_problem<float, window_shape::none>>();
  expect_no_allocations<laplace_problem<double, window_shape::exponential>>();
  expect_no_allocations<laplace_problem<float, window_shape::rectangular>>();
  expect_no_allocations<laplace_problem<wane::bfloat16, window_shape::hann>>();
}

template <class Problem>
void expect_no_allocations(wane::testing::memory_size const& size) {
  Problem const problem(size);
  auto const op = problem.make(0, size.time);
  support::tensor<float> y(size.batch, size.time, size.heads, size.columns);
  wane::recurrent_state<float> state(op);
  EXPECT_EQ(allocations_of_step(op, y.view(), static_cast<wane::state_view<float>>(state)), 0);
}

TEST(Step, AllocatesNothingForMemories) {
  using namespace wane::testing;
  expect_no_allocations<gla_problem<float>>({1, 3, 2, 150, 40});
  expect_no_allocations<gated_delta_net_problem<float>>({1, 3, 2, 150, 40});
  expect_no_allocations<rwkv7_problem<float>>({1, 3, 2, 16, 40});
  expect_no_allocations<retnet_problem<float>>({1, 3, 2, 16, 40});
  expect_no_allocations<retrieval_problem<float, wane::normaliser::none>>({1, 3, 2, 5, 40});
}

TEST(Step, TokenByTokenIsTheRun) {
  for (index columns : {1, 4, 30}) {
    support::linear_case<decay_as::log, float> run({2, 80, 2, columns});
    run.run();
    wane::recurrent_state<float> state = run.initial;
    support::tensor<float> y(2, 80, 2, columns);
    for (index t = 0; t < 80; ++t) {
      wane::linear_recurrence<decay_as::log, float> const token(
          {.decay = run.decay.view().tokens(t, t + 1), .drive = run.drive.view().tokens(t, t + 1)});
      wane::step(token, y.view().tokens(t, t + 1), static_cast<wane::state_view<float>>(state));
    }
    support::nearness near;
    y.for_each([&](index b, index t, index h, index c) {
      near.add(static_cast<double>(y(b, t, h, c)), static_cast<double>(run.output(b, t, h, c)));
    });
    EXPECT_LT(near.both(), 1e-6);
    EXPECT_EQ(state.positions(), (std::vector<index>{80, 80}));
  }
}

// A step of `op` with a state whose columns are neighbours, and with one whose columns are two
// apart, which goes number by number.
template <class Op>
void expect_vectors_give_what_numbers_give(Op const& op, double bound, index position = 0) {
  using V = wane::accumulate_type<Op>;
  using Out = wane::output_type<Op>;
  wane::recurrence_shape const shape = op.shape(), out = wane::output_shape_of(op);
  wane::recurrent_state<V> near_state(op);
  support::random_values random{5};
  for (V& z : near_state.values()) {
    double const re = random.uniform(-1, 1), im = random.uniform(-1, 1);
    if constexpr (wane::is_complex<V>)
      z = {static_cast<wane::real_type<V>>(re), static_cast<wane::real_type<V>>(im)};
    else
      z = static_cast<V>(re);
  }
  if constexpr (requires { op.reach(0); })
    if (op.reach(0) > 0) near_state = wane::recurrent_state<V>(op);  // whose ring holds inputs
  near_state.positions().assign(near_state.positions().size(), position);
  std::vector<V> apart(2 * near_state.values().size());
  for (std::size_t i = 0; i < near_state.values().size(); ++i)
    apart[2 * i] = near_state.values()[i];
  std::vector<index> positions = near_state.positions();
  index const rows = shape.rows, columns = shape.columns;
  wane::state_view<V> const far{
      {apart.data(),
       {shape.batch, shape.heads, rows, columns},
       {2 * shape.heads * rows * columns, 2 * rows * columns, 2 * columns, 2}},
      positions.data()};
  support::tensor<Out> y(out.batch, out.time, out.heads, out.columns),
      z(out.batch, out.time, out.heads, out.columns);
  wane::step(op, y.view(), wane::state_view<V>(near_state));
  wane::step(op, z.view(), far);
  support::nearness near;
  y.for_each([&](index b, index t, index h, index c) {
    near.add(static_cast<double>(y(b, t, h, c)), static_cast<double>(z(b, t, h, c)));
  });
  EXPECT_LT(near.both(), bound) << columns << " columns";
  support::nearness of_states;
  if constexpr (!requires { op.reach(0); })
    for (std::size_t i = 0; i < near_state.values().size(); ++i)
      of_states.add(static_cast<double>(near_state.values()[i]), static_cast<double>(apart[2 * i]));
  EXPECT_LT(of_states.both(), bound) << columns << " columns";
}

template <class Problem>
void expect_vectors_of_poles(double bound) {
  for (index const columns : {1, 5, 16, 37, 600})
    for (bool const by_column : {false, true})
      for (bool const masked : {false, true}) {
        Problem problem({.tokens = 40,
                         .columns = columns,
                         .nodes = 11,
                         .width = 9.3,
                         .by_column = by_column,
                         .masked = masked});
        for (index const position : {0, 123456}) {
          expect_vectors_give_what_numbers_give(problem.make(0, 40), bound, position);
          expect_vectors_give_what_numbers_give(problem.make(0, 40).future(), bound, position);
        }
      }
}

TEST(Step, OfPolesInVectorsIsThatOfNumbers) {
  expect_vectors_of_poles<laplace_problem<float, window_shape::none>>(1e-6);
  expect_vectors_of_poles<laplace_problem<float, window_shape::hann>>(1e-6);
  expect_vectors_of_poles<laplace_problem<double, window_shape::gaussian>>(1e-13);
  expect_vectors_of_poles<laplace_problem<double, window_shape::none>>(1e-14);
  expect_vectors_of_poles<laplace_problem<wane::bfloat16, window_shape::rectangular>>(1e-2);
}

// Operators are views, so a step takes the parameters that are there when it is called.
TEST(Step, OfPolesSeesParametersThatChanged) {
  laplace_problem<float, window_shape::none> problem({.tokens = 1, .columns = 20});
  auto const kept = problem.make(0, 1);
  auto const two_steps = [&](auto const& second) {
    problem.sigma[0] = 0.25f, problem.read_out[1] = 0.5f;
    wane::recurrent_state<std::complex<float>> state(kept);
    support::tensor<float> y(2, 1, 2, 20);
    wane::step(kept, y.view(), state);
    problem.sigma[0] = 0.125f, problem.read_out[1] = -0.5f;
    wane::step(second(), y.view(), state);
    return state.values();
  };
  EXPECT_EQ(two_steps([&] { return kept; }), two_steps([&] { return problem.make(0, 1); }));
}

TEST(Step, OfManyColumnsIsThatOfNumbers) {
  using namespace wane::testing;
  for (index const columns : {300, 512, 1000}) {
    for (index const rows : {1, 7, 16, 37, 150}) {
      memory_size const size{1, 2, 2, rows, columns};
      expect_vectors_give_what_numbers_give(gla_problem<float>(size).make(0, 2), 2e-6);
      expect_vectors_give_what_numbers_give(retnet_problem<float>(size).make(0, 2), 2e-6);
      expect_vectors_give_what_numbers_give(rwkv7_problem<double>(size).make(0, 2), 1e-14);
      expect_vectors_give_what_numbers_give(gla_problem<double>(size).make(0, 2), 1e-14);
    }
    support::bank_case<float> bank({40, {.batch = 2, .time = 3, .heads = 2, .columns = columns}});
    expect_vectors_give_what_numbers_give(bank.op(), 1e-6);
    support::bank_case<double> wide({16, {.time = 3, .columns = columns}});
    expect_vectors_give_what_numbers_give(wide.op(), 1e-14);
  }
}

TEST(Step, OfNoTokensChangesNothing) {
  support::linear_case<decay_as::log, float> none({.batch = 2, .time = 0, .columns = 3});
  wane::recurrent_state<float> state = none.initial;
  wane::step(none.op(), none.output.view(), static_cast<wane::state_view<float>>(state));
  EXPECT_EQ(state.values(), none.initial.values());
}

TEST(Step, MayUseAStateOfAnotherPrecisionAndAnyStrides) {
  support::linear_case<decay_as::factor, float> run({.time = 30, .heads = 2, .columns = 3});
  run.run();
  // [N, H, 1, C] with the columns two apart, heads backwards, no positions.
  std::vector<double> memory(20, -7);
  wane::state_view<double> const state{{memory.data() + 10, {1, 2, 1, 3}, {99, -9, 99, 2}},
                                       nullptr};
  wane::state_view<float const> const before = std::as_const(run.initial);
  for (index h = 0; h < 2; ++h)
    for (index c = 0; c < 3; ++c)
      state.values(0, h, 0, c) = static_cast<double>(before.values(0, h, 0, c));
  support::tensor<float> y(1, 30, 2, 3);
  wane::step(run.op(), y.view(), state);
  support::nearness near;
  y.for_each([&](index b, index t, index h, index c) {
    near.add(static_cast<double>(y(b, t, h, c)), static_cast<double>(run.output(b, t, h, c)));
  });
  EXPECT_LT(near.both(), 1e-6);
  EXPECT_EQ(std::count(memory.begin(), memory.end(), -7.), 14);
}

}  // namespace
