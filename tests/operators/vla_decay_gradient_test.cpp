// vla that forgets: gradients of log decays in float, where lambda is small.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>

#include "support/in_double.hpp"
#include "support/vla_problem.hpp"

namespace wane::testing {
namespace {

using enum write_rule;
using enum penalises;

constexpr memory_size size{.batch = 1, .time = 16, .heads = 1, .rows = 32, .columns = 8};

template <class Problem>
std::vector<double> decay_gradients(Problem& problem) {
  adjoint(problem.make(0, size.time), problem.value.view(), problem.gradients());
  return support::widened(problem.gate.values.gradient);
}

// Keys are independent, and lambda is small beside their lengths. The gradient of log l is then of
// the size of lambda, and its two terms are of the size of 1.
template <write_rule Rule, penalises What>
double error(double lambda) {
  vla_options const options{.lambda = lambda, .memory_fades = false};
  vla_problem<float, Rule, What, token_view<float const>> in_float(size, options);
  vla_problem<double, Rule, What, token_view<double const>> in_double(size, options);
  for (float& g : in_float.gate.values.values) g *= 0.02f;
  auto const from = in_float.inputs();
  auto const to = in_double.inputs();
  for (std::size_t i = 0; i < from.size(); ++i)
    std::copy(from[i].begin(), from[i].end(), to[i].begin());
  return support::apart(decay_gradients(in_float), decay_gradients(in_double));
}

TEST(VlaDecayGradient, IsThatInDoubleWhereLambdaIsSmall) {
  for (double lambda : {1e-2, 1.6e-4}) {
    // M has the condition 1/lambda; sums are of 32 rows.
    double const bound = 32 * 6e-8 / lambda;
    EXPECT_LE((error<rls, keys>(lambda)), bound) << lambda;
    EXPECT_LE((error<projective, keys>(lambda)), bound) << lambda;
    EXPECT_LE((error<unit, keys>(lambda)), bound) << lambda;
    EXPECT_LE((error<projective, directions>(lambda)), bound) << lambda;
    EXPECT_LE((error<unit, directions>(lambda)), bound) << lambda;
  }
}

}  // namespace
}  // namespace wane::testing
