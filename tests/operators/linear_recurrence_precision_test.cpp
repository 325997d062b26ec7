// How near a float state is to a double one over long sequences, and a double one to 50 digits.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include "support/linear_case.hpp"

namespace {

using support::index;
using support::linear_case;
using wane::decay_as;
using exact = boost::multiprecision::cpp_bin_float_50;

// Constant log decay (or its factor), drives between `low` and 1; C channels.
template <decay_as Form, class Io, class Real>
double error_of(double log, index time, index columns, double low = -1) {
  linear_case<Form, Io> run({.time = time, .columns = columns});
  run.decay.fill([&](auto...) { return Form == decay_as::log ? log : std::exp(log); });
  support::random_values random;
  run.drive.fill([&](auto...) { return random.uniform(low, 1); });
  run.run();
  support::nearness near;
  run.template naive<Real>(
      [&](index b, index t, index h, index c, Real const& y) {
        near.add(static_cast<double>(run.output(b, t, h, c)), static_cast<double>(y));
      },
      [](auto...) {});
  return near.both();
}

constexpr double log_decays[] = {0, -1e-9, -1e-6, -1e-4, -1e-2, -0.3};

// Tokens that a state remembers.
double memory(double log, index time) {
  double const all = static_cast<double>(time);
  return log == 0 ? all : std::min(all, -1 / std::expm1(log));
}
double house_bound(double log, index time) { return 6e-8 * std::sqrt(memory(log, time)); }

TEST(LinearRecurrencePrecision, OfAFloatStateGrowsWithTheRootOfItsMemory) {
  for (double log : log_decays)
    for (index columns : {1, 4, 20}) {
      // The largest of 1e5 errors is a few times their norm.
      double const bound = 3 * house_bound(log, 100000);
      EXPECT_LT((error_of<decay_as::log, float, double>(log, 100000, columns)), bound)
          << log << ", " << columns << " columns";
      EXPECT_LT((error_of<decay_as::factor, float, double>(log, 100000, columns)), bound)
          << log << ", " << columns << " columns";
    }
}

// Channels that forget at different rates share vectors.
template <decay_as Form>
void keep_each_channel_of_a_spectrum(index columns, int threads) {
  double const rates[] = {1e-3, 0.5, 1.7e-4, 0.05, 3e-4, 1e-5, 0.9, 1.1e-4};
  auto const rate = [&](index c) { return rates[c % 8]; };
  index const time = 400000 / columns;
  linear_case<Form, float> run({.time = time, .columns = columns, .threads = threads});
  run.decay.fill([&](index, index, index, index c) {
    return Form == decay_as::log ? std::log1p(-rate(c)) : 1 - rate(c);
  });
  auto options = run.options();
  options.threads_over_time = threads > 1;
  wane::run(run.op(), run.output.view(), options);
  std::vector<support::nearness> near(static_cast<std::size_t>(columns));
  run.template naive<double>(
      [&](index b, index t, index h, index c, double y) {
        near[static_cast<std::size_t>(c)].add(static_cast<double>(run.output(b, t, h, c)), y);
      },
      [](auto...) {});
  for (index c = 0; c < columns; ++c)
    EXPECT_LT(near[static_cast<std::size_t>(c)].both(), 3 * house_bound(std::log1p(-rate(c)), time))
        << "channel " << c << " of " << columns << ", " << threads << " threads";
}
TEST(LinearRecurrencePrecision, OfEachChannelOfASpectrumIsThatOfItsMemory) {
  for (index columns : {2, 3, 4, 8, 20})
    for (int threads : {1, 2}) {
      keep_each_channel_of_a_spectrum<decay_as::log>(columns, threads);
      keep_each_channel_of_a_spectrum<decay_as::factor>(columns, threads);
    }
}

// Stretches that hardly forget, that forget fast, and that do both by turns from token to token.
template <decay_as Form>
double error_where_the_pace_changes(index columns, wane::direction way) {
  linear_case<Form, float> run({.time = 6000, .columns = columns, .direction = way});
  support::random_values random(5);
  run.decay.fill([&](index, index t, index, index c) {
    index const stretch = (t / 150 + c) % 4;
    double const slow = random.log_decay(1e-4, 0.06), fast = random.log_decay(0.3, 3);
    double const log = stretch == 1 || (stretch == 2 && t % 2 == 0) ? fast : slow;
    if (stretch == 3 && t % 150 == 70) return Form == decay_as::log ? -HUGE_VAL : 0.;
    return Form == decay_as::log ? log : std::exp(log);
  });
  run.run();
  return run.error().both();
}
TEST(LinearRecurrencePrecision, HoldsWhereThePaceChanges) {
  for (index columns : {1, 2, 4, 8, 20})
    for (auto way : {wane::direction::forward, wane::direction::reverse}) {
      double const bound = 3 * house_bound(-1. / 150, 6000);
      EXPECT_LT(error_where_the_pace_changes<decay_as::log>(columns, way), bound) << columns;
      EXPECT_LT(error_where_the_pace_changes<decay_as::factor>(columns, way), bound) << columns;
    }
}

TEST(LinearRecurrencePrecision, OfAFloatStateWithDrivesOfOneSignIsAFewTimesThat) {
  for (double log : log_decays)
    for (index columns : {1, 20})
      EXPECT_LT((error_of<decay_as::log, float, double>(log, 100000, columns, 0)),
                5 * house_bound(log, 100000))
          << log << ", " << columns << " columns";
}

TEST(LinearRecurrencePrecision, OfAFloatStateGrowsWithTheRootOfItsMemorySlow) {
  for (double log : log_decays)
    for (index columns : {1, 16})
      for (auto error : {error_of<decay_as::log, float, double>(log, 10000000, columns),
                         error_of<decay_as::factor, float, double>(log, 10000000, columns)})
        EXPECT_LT(error, 3 * house_bound(log, 10000000)) << log << ", " << columns << " columns";
}

TEST(LinearRecurrencePrecision, OfADoubleStateIsTwelveDigits) {
  for (double log : log_decays)
    for (index columns : {1, 9}) {
      EXPECT_LT((error_of<decay_as::log, double, exact>(log, 3000, columns)), 1e-12) << log;
      EXPECT_LT((error_of<decay_as::factor, double, exact>(log, 3000, columns)), 1e-12) << log;
    }
}

TEST(LinearRecurrencePrecision, TinyForgettingIsHonouredByAFloatState) {
  // 1e-9 a token over 1e5 tokens takes 1e-4 off a state of one; rounding takes 2e-5 at random.
  for (index columns : {1, 2, 8, 16}) {
    linear_case<decay_as::log, float> run({.time = 100000, .columns = columns});
    support::random_values random;
    run.decay.fill([](auto...) { return -1e-9; });
    run.drive.fill([&](auto...) { return 1e-3 * random.uniform(-1, 1); });
    for (auto& x : run.initial.values()) x = 1;
    run.run();
    EXPECT_LT(run.error().of_largest(), 5e-5) << columns << " columns";
  }
}

}  // namespace
