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
      // The largest of 1e5 errors is a few times their norm. A plain factor's product and sum are
      // rounded apart where no instruction does both; then a product near h repeats its rounding.
      EXPECT_LT((error_of<decay_as::log, float, double>(log, 100000, columns)),
                3 * house_bound(log, 100000))
          << log << ", " << columns << " columns";
      EXPECT_LT((error_of<decay_as::factor, float, double>(log, 100000, columns)),
                6e-8 * memory(log, 100000))
          << log << ", " << columns << " columns";
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
      EXPECT_LT((error_of<decay_as::log, float, double>(log, 10000000, columns)),
                3 * house_bound(log, 10000000))
          << log << ", " << columns << " columns";
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
