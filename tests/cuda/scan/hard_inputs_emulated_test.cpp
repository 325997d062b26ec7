// Hard inputs to the scan of wane::cuda: growth, underflow, NaN, resets, positions, wrong calls.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/linear_case.hpp"
#include "support/user_operators.hpp"
#include "wane/testing/emulated_run.hpp"

namespace {

using support::index;
using support::linear_case;
using wane::decay_as;
using wane::testing::emulated_runner;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// One channel of 1000 tokens: decay(t), drive(t), and what comes before.
template <decay_as Form, class Decay, class Drive>
double error_of(float before, Decay const& decay, Drive const& drive) {
  linear_case<Form, float> run({.time = 1000});
  run.decay.fill([&](index, index t, index, index) { return decay(t); });
  run.drive.fill([&](index, index t, index, index) { return drive(t); });
  run.initial.values()[0] = before;
  run.run_by(emulated_runner<>());
  return run.error().both();
}
double nothing(index) { return 0; }
double one(index) { return 1; }

TEST(EmulatedScanHardInputs, ProductsMayLeaveTheRangeOfFloatWhereStatesDoNot) {
  auto const turns = [](double first, double then, index length) {
    return [=](index t) { return t / length % 2 == 0 ? first : then; };
  };
  EXPECT_LT((error_of<decay_as::factor>(1e-20f, turns(1e15, 1e-15, 3), nothing)), 2e-5);
  EXPECT_LT((error_of<decay_as::factor>(1e20f, turns(1e-15, 1e15, 3), nothing)), 2e-5);
  EXPECT_LT((error_of<decay_as::log>(1e30f, turns(-10, 10, 6), nothing)), 2e-5);
}

// As the CPU, number by number: a finite one is near, any other the same.
template <class Decay>
void expect_as_on_the_cpu(float before, float drive, Decay const& decay) {
  linear_case<decay_as::factor, float> here({.time = 1000}), there({.time = 1000});
  for (auto* run : {&here, &there}) {
    run->decay.fill([&](index, index t, index, index) { return decay(t); });
    run->drive.fill([&](auto...) { return drive; });
    run->initial.values()[0] = before;
  }
  here.run();
  there.run_by(emulated_runner<>());
  for (index t = 0; t < 1000; ++t) {
    float const is = there.output(0, t, 0, 0), should_be = here.output(0, t, 0, 0);
    if (std::isfinite(should_be))
      EXPECT_NEAR(is, should_be, 1e-6 * std::abs(should_be)) << t;
    else
      EXPECT_EQ(is, should_be) << t;
  }
}
TEST(EmulatedScanHardInputs, GrowthGoesToInfinityAndAResetEndsIt) {
  expect_as_on_the_cpu(1, 0, [](index t) { return t == 300 ? 0 : 2; });
  expect_as_on_the_cpu(-1, 0, [](index t) { return t == 500 ? 0 : 2; });
  expect_as_on_the_cpu(1, 1, [](index) { return 1.5; });
  expect_as_on_the_cpu(0, 0, [](index) { return 1.5; });
}

TEST(EmulatedScanHardInputs, ANaNStaysUntilAReset) {
  auto const fades = [](index) { return -1.; };
  auto const ill_at = [](index at) { return [=](index t) { return t == at ? nan : 1.; }; };
  for (index at : {0, 5, 400}) {
    EXPECT_LT((error_of<decay_as::log>(1, fades, ill_at(at))), 1e-6);
    EXPECT_LT((error_of<decay_as::log>(
                  1, [=](index t) { return t == at ? nan : -1.; }, nothing)),
              1e-6);
    auto const resets = [=](index t) { return t == at + 300 ? -HUGE_VAL : -1.; };
    EXPECT_LT((error_of<decay_as::log>(1, resets, ill_at(at))), 1e-6);
  }
  EXPECT_LT((error_of<decay_as::log>(nan, fades, one)), 1e-6);
}

// The operator sees positions that count on from those of the state.
TEST(EmulatedScanHardInputs, PositionsGoOnFromTheState) {
  support::position_sum const op{{.batch = 2, .time = 500, .columns = 3}};
  std::vector<double> values(3000);
  wane::sequence_view<double> const y(values.data(), 2, 500, 1, 3);
  wane::recurrent_state<double> state(op);
  state.positions() = {1000, 7};
  wane::run_options<double> options;
  options.initial = std::as_const(state);
  options.final = state;
  wane::testing::run({}, op, y, options);
  for (index t = 0; t < 500; ++t) {
    EXPECT_EQ(y(0, t, 0, 2), 1001 + t);
    EXPECT_EQ(y(1, t, 0, 0), 8 + t);
  }
  EXPECT_EQ(state.positions(), (std::vector<index>{1500, 507}));
}

TEST(EmulatedScanHardInputs, WrongCallsAreRefusedBeforeAnythingIsWritten) {
  linear_case<decay_as::log, float> run({.time = 10, .columns = 2});
  auto const call = [&](auto const& options, wane::cuda::workspace memory) {
    (void)wane::cuda::impl::scan_call<wane::testing::small_scan>(run.op(), run.output.view(),
                                                                 memory, options);
  };
  alignas(16) std::byte memory[4096];
  auto options = run.options();
  call(options, {memory, sizeof(memory)});
  support::expect_error({"the workspace has no data"}, [&] { call(options, {}); });
  support::expect_error({"the workspace has 8 bytes"}, [&] { call(options, {memory, 8}); });
  support::expect_error({"not aligned"}, [&] { call(options, {memory + 4, 4000}); });
  wane::kept_state<float> const on_the_way[] = {{5, run.final}};
  options.keep = on_the_way;
  support::expect_error({"keep has 1"}, [&] { call(options, {memory, sizeof(memory)}); });
  options.keep = {};
  index const lengths[] = {10};
  options.lengths = lengths;
  support::expect_error({"lengths are given", "pack"}, [&] {
    call(options, {memory, sizeof(memory)});
  });
  options.lengths = {};
  std::vector<index> const none{0}, all{0, 10};
  options.packed = {none};
  options.initial = {}, options.final = {};
  support::expect_error({"there is no sequence"}, [&] { call(options, {memory, sizeof(memory)}); });
  options.packed = {all};
  options.final = run.final;
  options.initial = std::as_const(run.final);
  support::expect_error({"the same memory"}, [&] { call(options, {memory, sizeof(memory)}); });
}

}  // namespace
