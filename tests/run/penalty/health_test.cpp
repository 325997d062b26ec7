// watch reports of a penalised memory what theory says, and its outputs are those of run.
// SPDX-License-Identifier: MIT
#include "wane/run/penalty/health.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/vla_problem.hpp"
#include "wane/run/run.hpp"

namespace wane::testing {
namespace {

using enum write_rule;
using enum penalises;
using gate = token_view<double const>;

template <class Problem>
std::vector<penalty_health> watched(Problem const& problem, index every) {
  memory_size const& size = problem.size;
  auto const op = problem.make(0, size.time);
  recurrent_state<double> final(op, size.batch), of_run(op, size.batch);
  std::vector<double> y(static_cast<std::size_t>(size.time * size.heads * size.columns)),
      right(y.size());
  auto const to = [&](std::vector<double>& of) {
    return sequence_view<double>(of.data(), 1, size.time, size.heads, size.columns);
  };
  std::vector<penalty_health> all;
  watch(
      op, to(y), every, [&](place<>, penalty_health const& h) { all.push_back(h); },
      run_options<double>{.final = final});
  run(op, to(right), run_options<double>{.final = of_run});
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], right[i], 1e-11) << i;
  for (std::size_t i = 0; i < final.values().size(); ++i)
    EXPECT_NEAR(final.values()[i], of_run.values()[i], 1e-11) << i;
  return all;
}

memory_size const size{.batch = 1, .time = 60, .heads = 1, .rows = 9, .columns = 4};

// Of a unit write direction: |I - a k^T| = (1 + sqrt(5 - 4 rho))/2, in [1, 1.618].
TEST(PenaltyHealth, OfTheUnitRule) {
  double greatest = 0;
  for (auto const& h : watched(vla_problem<double, unit, keys>(size), 1)) {
    EXPECT_NEAR(h.write, 1, 1e-12);
    EXPECT_NEAR(h.step, (1 + std::sqrt(5 - 4 * h.aim)) / 2, 1e-12);
    EXPECT_LE(h.drift, 1e-14);
    greatest = std::max(greatest, h.step);
  }
  EXPECT_GT(greatest, 1.01);
}

// The product of all steps of least squares is lambda M^-1, so M bounds how much they expand.
TEST(PenaltyHealth, OfLeastSquares) {
  std::vector<penalty_health> const all = watched(vla_problem<double, rls, keys>(size), 7);
  ASSERT_EQ(all.size(), 60u / 7 + 1);
  for (auto const& h : all) {
    EXPECT_NEAR(h.steps, 0.1 / h.least, 1e-11);
    EXPECT_GE(h.least, 0.1 - 1e-12);
    EXPECT_LE(h.drift, 1e-14);
    EXPECT_GT(h.memory, 0);
  }
  EXPECT_GT(all.back().most, all.front().most);
}

TEST(PenaltyHealth, OfRefreshesAndOfForgetting) {
  for (auto const& h : watched(
           vla_problem<double, projective, directions>(size, {.lambda = 0.1, .refresh = {4, .2}}),
           5)) {
    EXPECT_LE(h.drift, 1e-12);
    EXPECT_GE(h.step, 1 - 1e-12);  // a projection, not always orthogonal
  }
  for (auto const& h : watched(vla_problem<double, rls, keys, gate>(size), 1)) {
    EXPECT_LE(h.drift, 1e-13);
    EXPECT_GE(h.least, 0.025 * (1 - 1e-12));
  }
}

TEST(PenaltyHealth, RefusesWhatDoesNotFit) {
  vla_problem<double, rls, keys> problem(size);
  auto const nothing = [](place<>, penalty_health const&) {};
  double y = 0;
  support::expect_error({"every is 0"}, [&] {
    watch(problem.make(0, 60), sequence_view<double>(&y, 1, 60, 1, 4), 0, nothing);
  });
  support::expect_error({"output", "columns"}, [&] {
    watch(problem.make(0, 60), sequence_view<double>(&y, 1, 60, 1, 3), 1, nothing);
  });
}

}  // namespace
}  // namespace wane::testing
