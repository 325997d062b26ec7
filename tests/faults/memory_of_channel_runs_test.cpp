// Channels, banks and poles whose requests for memory fail, each in turn.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/failing_passes.hpp"
#include "support/gated_problems.hpp"
#include "support/laplace_problem.hpp"
#include "support/problems.hpp"
#include "wane/operators/laplace_coefficients.hpp"

namespace {

using namespace wane::testing;
using support::expect_passes_to_survive;
using wane::spectra::window_shape;

// The problem of laplace without the read-out, which coefficients do not use.
struct coefficients_problem : support::laplace_problem<float, window_shape::hann> {
  using base = support::laplace_problem<float, window_shape::hann>;
  using base::base;

  auto make(wane::index begin, wane::index end) const {
    return wane::laplace_coefficients<base::operation>(base::make(begin, end));
  }
  auto gradients() {
    auto to = base::gradients();
    to.nodes.read_out = {};
    return to;
  }
};

TEST(WithoutMemory, Channels) {
  expect_passes_to_survive(linear_problem<wane::decay_as::log, float>(2, 21, 3, 19), "channels");
}
// Threads share a sequence: its tiles have 16 tokens a thread.
TEST(WithoutMemory, ThreadsOverTime) {
  linear_problem<wane::decay_as::log, float> const problem(1, 200, 1, 1500);
  support::failing_passes passes(problem);
  support::failures const found = support::expect_to_survive_failures(passes.run(3, true));
#ifdef _OPENMP
  EXPECT_GT(found.requests, 10);  // a team has states and effects for each thread
#else
  EXPECT_GT(found.requests, 0);
#endif
}
TEST(WithoutMemory, Elements) {
  expect_passes_to_survive(longhorn_problem<float>({2, 21, 3, 7, 19}), "elements");
}
TEST(WithoutMemory, Lags) {
  expect_passes_to_survive(bank_problem<float>(2, 21, 3, 7, 19), "lags");
}
TEST(WithoutMemory, Poles) {
  expect_passes_to_survive(
      support::laplace_problem<float, window_shape::hann>({.tokens = 21, .columns = 19}), "poles");
}
TEST(WithoutMemory, CoefficientsOfPoles) {
  expect_passes_to_survive(coefficients_problem({.tokens = 21, .columns = 19}), "coefficients");
}

}  // namespace
