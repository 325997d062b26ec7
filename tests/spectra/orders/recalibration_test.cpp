// recalibration: a memory for T tokens goes on as one for T', reading of old tokens what it would.
// SPDX-License-Identifier: MIT
#include "wane/spectra/orders/recalibration.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "spectra/expect_refusal.hpp"
#include "support/nearness.hpp"
#include "support/retention_problem.hpp"

namespace {

using support::rates_of;
using wane::index;
using wane::recurrent_state;
using wane::state_view;
using namespace wane::spectra;

TEST(Recalibration, ReadsWhatTheOldMemoryWouldHaveRead) {
  for (auto [from, to] : {std::pair<std::array<std::int64_t, 2>, std::array<std::int64_t, 2>>{
                              {12, 1000}, {16, 100000}},
                          {{16, 100000}, {12, 1000}}}) {
    shared_rates const& old = rates_of(from[0], from[1]);
    shared_rates const& now = rates_of(to[0], to[1]);
    recalibration const carried(old, now);
    for (std::int64_t lag = 1; lag <= to[1]; lag += 1 + lag / 9)
      for (std::size_t s = 0; s < old.rates().size(); ++s) {
        double read = 0;
        for (std::size_t i = 0; i < now.rates().size(); ++i)
          read += carried(index(i), index(s)) * std::exp(-now.rates()[i] * double(lag));
        EXPECT_NEAR(read, std::exp(-old.rates()[s] * double(lag)), 5e-3) << lag << " " << s;
      }
  }
}

TEST(Recalibration, ToTheSameRatesChangesNothing) {
  shared_rates const& rates = rates_of(12, 1000);
  recalibration const carried(rates, rates);
  for (index i = 0; i < 12; ++i)
    for (index s = 0; s < 12; ++s) EXPECT_NEAR(carried(i, s), i == s, 1e-9);
}

// Random tokens of orders in [0.1, 1]: then silence, and what is read of them, relative to the norm
// of what their power laws leave.
struct readings {
  double carried = 0, kept = 0, from_the_start = 0;
};
std::vector<readings> read_after(std::int64_t tokens, shared_rates const& old,
                                 shared_rates const& now, std::vector<index> const& lags) {
  constexpr index columns = 16;
  order_weights<double> const old_weights(old), now_weights(now);
  support::random_values random(3);
  auto const some = [&](index count, double low, double high) {
    std::vector<double> x(static_cast<std::size_t>(count));
    for (double& one : x) one = random.uniform(low, high);
    return x;
  };
  std::vector<double> const v = some(tokens * columns, -1, 1), alpha = some(tokens, 0.1, 1);
  auto const state_on = [&](order_weights<double> const& weights) {
    wane::retention<double> const memory(
        {.value = {v.data(), 1, tokens, 1, columns}, .alpha = {alpha.data(), 1, tokens, 1}},
        weights.table());
    recurrent_state<double> state(memory);
    std::vector<double> y(v.size());
    run(memory, {y.data(), 1, tokens, 1, columns}, {.final = state});
    return state;
  };
  recurrent_state<double> const kept = state_on(old_weights), best = state_on(now_weights);
  recurrent_state<double> carried(1, 1, static_cast<index>(now.rates().size()), columns);
  recalibration(old, now).carry(state_view<double const>(kept), state_view<double>(carried));
  EXPECT_EQ(carried.positions()[0], tokens);

  std::vector<readings> found;
  for (index lag : lags) {
    support::nearness of_carried, of_kept, of_best;
    for (index j = 0; j < columns; ++j) {
      double law = 0;
      for (index i = 0; i < tokens; ++i)
        law += support::exact_kernel(alpha[std::size_t(i)], tokens - 1 - i + lag) *
               v[std::size_t(i * columns + j)];
      auto const read = [&](recurrent_state<double> const& state, shared_rates const& rates) {
        double sum = 0;
        for (std::size_t s = 0; s < rates.rates().size(); ++s)
          sum += state.values()[s * columns + std::size_t(j)] *
                 std::exp(-rates.rates()[s] * double(lag));
        return sum;
      };
      of_carried.add(read(carried, now), law);
      of_kept.add(read(kept, old), law);
      of_best.add(read(best, now), law);
    }
    found.push_back({of_carried.of_norm(), of_kept.of_norm(), of_best.of_norm()});
    std::printf("lag %6ld: carried %.1e, old rates %.1e, new from the start %.1e\n", long(lag),
                found.back().carried, found.back().kept, found.back().from_the_start);
  }
  return found;
}

TEST(Recalibration, OfRandomTokensIsAsGoodAsTheOldMemory) {
  shared_rates const &old = rates_of(16, 10000), &now = rates_of(19, 1000000);
  auto const found = read_after(10000, old, now, {1, 10, 100, 1000, 10000, 100000, 1000000});
  // As far as the old memory was made for, no worse than by roundings of the fit.
  for (std::size_t i = 0; i < 5; ++i) EXPECT_LT(found[i].carried, found[i].kept + 2e-5) << i;
  EXPECT_LT(found[3].carried, 2e-5);
  EXPECT_LT(found[4].carried, 1e-3);  // some of these tokens are 20000 old by then
  // Beyond the planned horizon the result fades as the old memory does.
  EXPECT_LT(found[6].carried, 0.3);
  EXPECT_GT(found[6].carried, 0.01);
  for (std::size_t i = 5; i < 7; ++i) {
    EXPECT_NEAR(found[i].carried / found[i].kept, 1, 0.05) << i;
    EXPECT_LT(found[i].from_the_start, 1e-3) << i;
  }
}

TEST(Recalibration, ToldItsErrors) {
  auto const told = [](std::int64_t terms, std::int64_t horizon, std::int64_t to_terms,
                       std::int64_t to_horizon) {
    recalibration const carried(rates_of(terms, horizon), rates_of(to_terms, to_horizon));
    std::printf("%ld to %ld: within %.1e, beyond %.1e\n", long(horizon), long(to_horizon),
                carried.errors().within, carried.errors().beyond);
    return carried.errors();
  };
  auto const longer = told(16, 10000, 19, 1000000);
  EXPECT_LT(longer.within, 2e-3);
  EXPECT_GT(longer.beyond, 1);
  auto const twice = told(12, 10000, 12, 20000);
  EXPECT_LT(twice.within, 4e-3);
  EXPECT_LT(twice.beyond, 0.1);
  auto const shorter = told(16, 100000, 12, 1000);
  EXPECT_LT(shorter.within, 5e-3);
  EXPECT_GT(shorter.beyond, shorter.within);
  auto const same = told(16, 100000, 16, 100000);
  EXPECT_LT(same.within, 5e-4);
  EXPECT_EQ(same.within, same.beyond);
}

// The errors told are those of tokens: one of them, of order 0.3 and 50 tokens old.
TEST(Recalibration, TellsNoLessThanATokenErrs) {
  shared_rates const &old = rates_of(12, 1000), &now = rates_of(16, 100000);
  recalibration const carried(old, now);
  auto const weights = old.at(0.3).weights;
  for (std::int64_t lag : {1, 900, 50000}) {
    double read = 0;
    for (std::size_t i = 0; i < now.rates().size(); ++i)
      for (std::size_t s = 0; s < old.rates().size(); ++s)
        read += std::exp(-now.rates()[i] * double(lag)) * carried(index(i), index(s)) * weights[s] *
                std::exp(-old.rates()[s] * 50);
    double const error = std::abs(read / gruenwald_letnikov(0.3)(lag + 50) - 1);
    EXPECT_LT(error, lag < 1000 ? carried.errors().within : carried.errors().beyond) << lag;
  }
}

TEST(Recalibration, CarriesEveryRowOfANode) {
  recalibration const carried(rates_of(8, 1000), rates_of(12, 10000));
  index const each = 3, columns = 5;
  recurrent_state<float> from(2, 3, 8 * each, columns), to(2, 3, 12 * each, columns);
  support::random_values random;
  for (float& x : from.values()) x = static_cast<float>(random.uniform(-1, 1));
  for (float& x : to.values()) x = NAN;
  from.positions() = {7, 1};
  carried.carry(state_view<float const>(from), state_view<float>(to));
  EXPECT_EQ(to.positions(), from.positions());
  auto const old = state_view<float>(from).values, now = state_view<float>(to).values;
  for (index n = 0; n < 2; ++n)
    for (index h = 0; h < 3; ++h)
      for (index i = 0; i < 12; ++i)
        for (index row = 0; row < each; ++row)
          for (index j = 0; j < columns; ++j) {
            double sum = 0;
            for (index s = 0; s < 8; ++s)
              sum += carried(i, s) * static_cast<double>(old(n, h, s * each + row, j));
            EXPECT_EQ(now(n, h, i * each + row, j), static_cast<float>(sum));
          }
}

TEST(Recalibration, CarriesStatesOfNoSequences) {
  recurrent_state<float> const from(0, 1, 8, 4);
  recurrent_state<float> to(0, 1, 12, 4);
  recalibration(rates_of(8, 1000), rates_of(12, 10000))
      .carry(state_view<float const>(from), state_view<float>(to));
}

TEST(Recalibration, RefusesStatesThatDoNotFit) {
  recalibration const carried(rates_of(8, 1000), rates_of(12, 10000));
  auto const carry = [&](recurrent_state<float> from, recurrent_state<float> to) {
    carried.carry(state_view<float const>(from), state_view<float>(to));
  };
  expect_refusal([&] { carry({1, 1, 9, 4}, {1, 1, 12, 4}); }, {"from has rows 9", "8"});
  expect_refusal([&] { carry({1, 1, 8, 4}, {1, 1, 8, 4}); }, {"to has rows 8", "12"});
  expect_refusal([&] { carry({1, 2, 8, 4}, {1, 1, 12, 4}); }, {"to has heads 1", "2"});
  expect_refusal([&] { carry({2, 1, 8, 4}, {1, 1, 12, 4}); }, {"to has sequences 1", "2"});
  expect_refusal([&] { carry({1, 1, 8, 4}, {1, 1, 12, 3}); }, {"to has columns 3", "4"});
  expect_refusal([&] { carried.carry(state_view<float const>{}, state_view<float>{}); },
                 {"no data"});
}

}  // namespace
