// How near a float bank is to a double one: slow nodes whose factors round to one.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <complex>

#include "support/bank_case.hpp"

namespace {

using support::bank_case;
using support::index;

// One node of log decay `log`, key and query one, values of random sign up to `drive`, state one.
template <class Io>
double error_of(Io log, index time, double drive) {
  bank_case<Io> run({1, {.time = time, .columns = 1}, false});
  support::random_values random;
  run.log_decay[0] = log;
  run.key[0] = run.query[0] = run.initial.values()[0] = 1;
  run.values.fill(
      [&](auto...) { return Io(static_cast<wane::real_type<Io>>(drive * random.uniform(-1, 1))); });
  run.run();
  support::nearness near;
  // The naive loop of double is no oracle for double: it rounds the factor of each of T tokens.
  using Real = std::conditional_t<wane::is_complex<Io>, std::complex<double>, long double>;
  std::vector<Real> state = {Real(support::wide(run.initial.values()[0]))};
  support::naive_bank<Real>(
      {0, time}, run.template head<Real>(0), state,
      [&](index t) { return support::wide(run.values(0, t, 0, 0)); },
      [&](index t, Real y, auto) {
        near.add(support::wide(run.output(0, t, 0, 0)), support::wide(y));
      });
  return near.both();
}

// Each token adds a rounding, which lasts as long as the memory: eps sqrt(min(T, 1 / (1 - w))). The
// largest of many errors is up to three times that.
double house_bound(double log, index time) {
  double const memory = std::min(static_cast<double>(time), -1 / std::expm1(log));
  return 3 * 6e-8 * std::sqrt(memory);
}

// Log decays whose factors lie half an ulp from a float, and others.
constexpr float slow[] = {-1e-9f, -1.5e-8f, -2.9e-8f, -8.8e-8f, -1.000004e-3f, -0.0156f};

TEST(ExponentialBankPrecision, OfAFloatStateIsThatOfItsRoundings) {
  for (float log : slow)
    for (index time : {63, 64, 65, 1000, 100000})
      EXPECT_LT(error_of(log, time, 0.1), house_bound(static_cast<double>(log), time))
          << log << ", " << time << " tokens";
}

TEST(ExponentialBankPrecision, OfAFloatStateIsThatOfItsRoundingsSlow) {
  for (float log : slow)
    EXPECT_LT(error_of(log, 10000000, 0.1), house_bound(static_cast<double>(log), 10000000)) << log;
}

TEST(ExponentialBankPrecision, ASlowNodeForgetsAlthoughItsFactorRoundsToOne) {
  // 1e-9 a token, 1e5 tokens: the state falls by 1e-4; rounding takes 2e-5 at random.
  EXPECT_LT(error_of(-1e-9f, 100000, 1e-3), 5e-5);
}

TEST(ExponentialBankPrecision, OfADoubleStateIsTwelveDigits) {
  for (double log : {-1e-12, -1e-6, -0.01})
    for (index time : {64, 1000, 100000}) EXPECT_LT(error_of(log, time, 0.1), 1e-12) << log;
}

TEST(ExponentialBankPrecision, OfAComplexFloatStateIsThatOfItsRoundings) {
  for (float damping : {-1e-6f, -1e-3f})
    for (index time : {100, 10000})
      for (float turn : {1e-4f, 0.5f, 2.7f})
        EXPECT_LT(error_of(std::complex<float>(damping, turn), time, 0.1),
                  2 * house_bound(static_cast<double>(damping), time))
            << damping << " + " << turn << " i, " << time << " tokens";
}

TEST(ExponentialBankPrecision, StepAgreesWithRun) {
  // Runners agree to 1e-6 before rounding to the stored type.
  for (float log : slow)
    for (index time : {64, 200}) {
      bank_case<float> run({1, {.time = time, .columns = 1}, false});
      run.log_decay[0] = log;
      run.key[0] = run.query[0] = run.initial.values()[0] = 1;
      run.run();
      wane::recurrent_state<float> state = run.initial;
      support::tensor<float> y(1, time, 1, 1);
      wane::step(run.op(), y.view(), static_cast<wane::state_view<float>>(state));
      support::nearness near;
      y.for_each([&](index b, index t, index h, index c) {
        near.add(static_cast<double>(run.output(b, t, h, c)), static_cast<double>(y(b, t, h, c)));
      });
      EXPECT_LT(near.both(), 1e-6) << log << ", " << time << " tokens";
    }
}

}  // namespace
