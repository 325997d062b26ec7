// Pairs of recurrences: sums and quotients of any two, and the layout of their one state.
// SPDX-License-Identifier: MIT
#include "wane/run/run.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "support/affine_memory.hpp"
#include "support/expect_error.hpp"
#include "support/laws_hold.hpp"
#include "support/memory_problems.hpp"
#include "support/nearness.hpp"
#include "wane/core/state/snapshots.hpp"
#include "wane/core/state/state_file.hpp"
#include "wane/operators/gla.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/check_values.hpp"
#include "wane/testing/adjoint_laws.hpp"
#include "wane/testing/sharded_laws.hpp"

namespace wane::testing {
namespace {

using support::tensor;

// A memory with keys beside channels, each with 2 H T V numbers.
template <class T>
struct sum_problem : gla_problem<T> {
  using channels = linear_recurrence<decay_as::log, T>;
  using op = sum_of<gla<T>, channels>;
  random_tensor<T> decay, drive;

  explicit sum_problem(memory_size const& s)
      : gla_problem<T>(s),
        decay(random_tensor<T>(s.batch, s.time, s.heads, s.columns, this->bits).as_log_decay()),
        drive(s.batch, s.time, s.heads, s.columns, this->bits) {}
  op make(index begin, index end) const {
    return {gla_problem<T>::make(begin, end), channels({.decay = decay.view().tokens(begin, end),
                                                        .drive = drive.view().tokens(begin, end)})};
  }
  std::array<std::span<T>, 6> inputs() {
    auto const [q, k, v, g] = gla_problem<T>::inputs();
    return {q, k, v, g, decay.values, drive.values};
  }
  std::array<std::span<T>, 6> input_gradients() {
    auto const [q, k, v, g] = gla_problem<T>::input_gradients();
    return {q, k, v, g, decay.gradient, drive.gradient};
  }
  typename op::gradients gradients(index begin = 0, index end = -1) {
    return {gla_problem<T>::gradients(begin, end),
            {.decay = decay.gradient_view(begin, end), .drive = drive.gradient_view(begin, end)}};
  }
};

// (a + b) / max(c, floor), a pair of a pair: c is channels of one column.
template <class T>
struct nested_problem : sum_problem<T> {
  using channels = typename sum_problem<T>::channels;
  using op = quotient_of<typename sum_problem<T>::op, channels>;
  random_tensor<T> below_decay, below_drive;

  explicit nested_problem(memory_size const& s)
      : sum_problem<T>(s),
        below_decay(random_tensor<T>(s.batch, s.time, s.heads, 1, this->bits).as_log_decay()),
        below_drive(s.batch, s.time, s.heads, 1, this->bits) {}
  op make(index begin, index end) const {
    return {sum_problem<T>::make(begin, end),
            channels({.decay = below_decay.view().tokens(begin, end),
                      .drive = below_drive.view().tokens(begin, end)}),
            0.5};
  }
  std::array<std::span<T>, 8> inputs() {
    auto const [q, k, v, g, w, b] = sum_problem<T>::inputs();
    return {q, k, v, g, w, b, below_decay.values, below_drive.values};
  }
  std::array<std::span<T>, 8> input_gradients() {
    auto const [q, k, v, g, w, b] = sum_problem<T>::input_gradients();
    return {q, k, v, g, w, b, below_decay.gradient, below_drive.gradient};
  }
  typename op::gradients gradients(index begin = 0, index end = -1) {
    return {sum_problem<T>::gradients(begin, end),
            {.decay = below_decay.gradient_view(begin, end),
             .drive = below_drive.gradient_view(begin, end)}};
  }
};

memory_size const sizes[] = {{1, 70, 2, 5, 7}, {2, 66, 3, 4, 17}, {1, 40, 1, 3, 1}};

TEST(Pair, KeepsTheLawsOfARecurrence) {
  for (memory_size const& size : sizes) {
    support::expect_to_hold(check_laws(sum_problem<float>(size), 1e-6));
    support::expect_to_hold(check_laws(sum_problem<double>(size), 1e-13));
    support::expect_to_hold(check_laws(nested_problem<float>(size), 1e-6));
    support::expect_to_hold(check_laws(nested_problem<double>(size), 1e-13));
    support::expect_to_hold(check_sharded_laws(sum_problem<double>(size), 1e-12));
    support::expect_to_hold(check_sharded_laws(nested_problem<double>(size), 1e-12));
  }
}

TEST(Pair, KeepsTheLawsOfTheAdjoint) {
  for (memory_size const& size : {memory_size{2, 30, 2, 3, 5}, memory_size{1, 17, 1, 3, 1}}) {
    sum_problem<double> p(size);
    support::expect_to_hold(check_adjoint_laws(p));
    nested_problem<double> q(size);
    support::expect_to_hold(check_adjoint_laws(q));
  }
}

// A pair gives the sum or the quotient of the outputs of its parts, and leaves their states.
TEST(Pair, IsWhatItsPartsGive) {
  constexpr index T = 50, H = 2, V = 7;
  nested_problem<double> const p({2, T, H, 3, V});
  auto const op = p.make(0, T);
  auto const size = static_cast<std::size_t>(2 * T * H * V);
  std::vector<double> y(size), a(size), b(size), d(2 * T * H);
  auto const as = [](std::vector<double>& x, index columns) {
    return sequence_view<double>(x.data(), 2, T, H, columns);
  };
  recurrent_state<double> state(op);
  auto const of = [&](auto const& part, std::vector<double>& to, index columns) {
    recurrent_state<double> own(part);
    run(part, as(to, columns), run_options<double>{.final = own});
    return own;
  };
  run(op, as(y, V), run_options<double>{.final = state});
  auto const of_a = of(op.first().first(), a, V), of_b = of(op.first().second(), b, V),
             of_d = of(op.second(), d, 1);
  for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(y[i], (a[i] + b[i]) / std::max(d[i / V], 0.5));
  auto const sum = op.state_of_first(state_view<double const>(std::as_const(state)));
  auto const expect_held = [](state_view<double const> const& is,
                              state_view<double const> const& x) {
    for (index n = 0; n < 2; ++n)
      for (index h = 0; h < H; ++h)
        for (index i = 0; i < x.values.extent[2]; ++i)
          for (index j = 0; j < x.values.extent[3]; ++j)
            ASSERT_EQ(is.values(n, h, i, j), x.values(n, h, i, j));
  };
  expect_held(op.first().state_of_first(sum), of_a);
  expect_held(op.first().state_of_second(sum), of_b);
  expect_held(op.state_of_second(state_view<double const>(std::as_const(state))), of_d);
  EXPECT_EQ(state.positions(), (std::vector<index>{T, T}));
}

// States of a pair can be kept on the way, saved, loaded and rolled back. The initial state may
// share its memory with the final one, strided and of another type.
TEST(Pair, HasAStateAsOthers) {
  constexpr index T = 60, H = 2, V = 7;
  nested_problem<float> const p({1, T, H, 3, V});
  std::vector<float> y(T * H * V), again(y);
  auto const as = [](std::vector<float>& x) { return sequence_view<float>(x.data(), 1, T, H, V); };
  recurrent_state<float> kept(p.make(0, T)), last(kept);
  kept_state<float> const keep[] = {{23, kept}};
  run(p.make(0, T), as(y), run_options<float>{.final = last, .keep = keep});
  EXPECT_EQ(kept.positions(), std::vector<index>{23});
  std::stringstream file;
  save_state(file, "pair", kept);
  recurrent_state<float> found(p.make(0, T));
  load_state(file, "pair", found);
  snapshots<float> ring(2, found);
  ring.push(found);
  step(p.make(0, 1), as(again).tokens(0, 1), found);
  ring.push(found);
  ring.rollback(1, found);
  index const columns = p.make(0, T).shape().columns;
  std::vector<double> memory(static_cast<std::size_t>(2 * H * columns));
  state_view<double> const carried{{memory.data(), {1, H, 1, columns}, {0, 2 * columns, 0, 2}},
                                   found.positions().data()};
  for (index h = 0; h < H; ++h)
    for (index i = 0; i < columns; ++i)
      carried.values(0, h, 0, i) = static_cast<double>(state_view<float>(found).values(0, h, 0, i));
  run(p.make(23, T), as(again).tokens(23, T),
      run_options<double>{.initial = carried, .final = carried});
  EXPECT_EQ(found.positions(), std::vector<index>{T});
  support::nearness outputs;
  for (std::size_t i = 23 * H * V; i < y.size(); ++i)
    outputs.add(static_cast<double>(again[i]), static_cast<double>(y[i]));
  EXPECT_LE(outputs.both(), 1e-6);
  support::nearness states;
  for (index h = 0; h < H; ++h)
    for (index i = 0; i < columns; ++i)
      states.add(carried.values(0, h, 0, i),
                 static_cast<double>(state_view<float>(last).values(0, h, 0, i)));
  EXPECT_LE(states.both(), 1e-6);
}

// The output may overwrite an input of the first part that the second part reads too.
TEST(Pair, WritesOverItsInput) {
  support::memory<float> const apart(1, 90, 2, 4, 9), over(1, 90, 2, 4, 9);
  auto const of = [](auto const& m) {
    return sum_of(gla(m.in(), m.decay.view()), gla(m.in(), no_gate()));
  };
  tensor<float> y(1, 90, 2, 9);
  run(of(apart), y.view());
  run(of(over), over.value.view());
  y.for_each([&](auto... at) { ASSERT_EQ(over.value(at...), y(at...)); });
}

// Nothing is written behind the end of a sequence, for any type of the output.
template <class Io>
void expect_padding_untouched() {
  support::memory<Io> const m(2, 9, 3, 4, 5);
  gla const memory(m.in(), m.decay.view());
  tensor<Io> y(2, 9, 3, 5);
  y.fill([](auto...) { return 7; });
  std::vector<index> const lengths{4, 9};
  run(sum_of(memory, memory), y.view(), run_options<widened<Io>>{.lengths = lengths});
  y.for_each([&](index b, index t, index h, index j) {
    EXPECT_EQ(static_cast<float>(y(b, t, h, j)) == 7, b == 0 && t >= 4);
  });
}
TEST(Pair, LeavesPaddingAlone) {
  expect_padding_untouched<float>();
  expect_padding_untouched<bfloat16>();
}

// Heads with fewer and with more outputs than a step holds on its stack.
TEST(Pair, StepsThroughHeadsOfAnyWidth) {
  for (index columns : {1023, 2048, 2049, 2500}) {
    support::memory<double> const m(1, 3, 1, 2, columns);
    gla const memory(m.in(), m.decay.view());
    sum_of const op(memory, memory);
    tensor<double> y(1, 3, 1, columns), stepped(1, 3, 1, columns);
    run(op, y.view());
    recurrent_state<double> state(op);
    step(op, stepped.view(), state);
    support::nearness near;
    y.for_each([&](auto... at) { near.add(stepped(at...), y(at...)); });
    EXPECT_LE(near.both(), 1e-14);
  }
}

// One part is in float, the other in double: both states and their sum are in double.
TEST(Pair, OfTwoPrecisionsIsOfTheWider) {
  support::memory<float> const m(1, 90, 2, 4, 9);
  gla<float, sequence_view<float const>, double> const wide(m.in(), m.decay.view());
  gla const narrow(m.in(), m.decay.view());
  sum_of const both(wide, narrow);
  static_assert(std::is_same_v<decltype(both)::accumulate, double>);
  tensor<float> y(1, 90, 2, 9), exact(1, 90, 2, 9);
  run(both, y.view()), run(wide, exact.view());
  support::nearness near;
  y.for_each([&](auto... at) {
    near.add(static_cast<double>(y(at...)), 2 * static_cast<double>(exact(at...)));
  });
  EXPECT_LE(near.both(), 1e-6);
}

TEST(Pair, LooksThroughTheValuesOfBothParts) {
  for (bool second : {false, true}) {
    nested_problem<float> p({1, 9, 1, 2, 3});
    check_values(p.make(0, 9));
    (second ? p.below_drive : p.value).values[4] = NAN;
    support::expect_error({"value", "must be finite"}, [&] { check_values(p.make(0, 9)); });
  }
}

TEST(PairErrors, SayWhatDoesNotFit) {
  support::memory<float> const m(2, 9, 3, 4, 5), shorter(2, 8, 3, 4, 5), fewer(2, 9, 1, 4, 5),
      narrow(2, 9, 3, 4, 1);
  auto const of = [](auto const& x) { return gla(x.in(), x.decay.view()); };
  support::expect_error({"second part", "time 8", "must be 9"},
                        [&] { sum_of(of(m), of(shorter)); });
  support::expect_error({"second part", "heads 1", "must be 3"}, [&] { sum_of(of(m), of(fewer)); });
  support::expect_error({"second part", "output columns 1", "must be 5"},
                        [&] { sum_of(of(m), of(narrow)); });
  support::expect_error({"second part", "output columns 5", "must be 1"},
                        [&] { quotient_of(of(m), of(m)); });
  for (double floor : {0., -1., std::nan(""), HUGE_VAL})
    support::expect_error({"floor", "must be finite"},
                          [&] { quotient_of(of(m), of(narrow), floor); });
  quotient_of const good(of(m), of(narrow));
  EXPECT_EQ(output_shape_of(good).columns, 5);
  tensor<float> y(2, 9, 3, 5);
  recurrent_state<float> state(good), wrong(2, 3, 4, 5);
  support::expect_error({"state", "rows 4", "must be 1"}, [&] { step(good, y.view(), wrong); });
  support::expect_error({"output", "columns 4", "must be 5"}, [&] { run(good, m.query.view()); });
  support::expect_error({"initial", "rows 4"}, [&] {
    run(good, y.view(), run_options<float>{.initial = std::as_const(wrong)});
  });
  support::memory<float> const none(2, 9, 3, 4, 0);
  support::expect_error({"columns", "must be 1 or more"},
                        [&] { run(sum_of(of(none), of(none)), none.value.view()); });
  keyed_inputs<float> absent = m.in();
  absent.value.data = nullptr;
  support::expect_error({"value has no data"},
                        [&] { run(sum_of(of(m), gla(absent, m.decay.view())), y.view()); });
  EXPECT_TRUE(std::isnan(y(0, 0, 0, 0))) << "written in spite of the error";
}

}  // namespace
}  // namespace wane::testing
