// Every form runs, steps and has its adjoint with wane/run/run.hpp and wane/run/adjoint.hpp.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "wane/core/state/pair.hpp"
#include "wane/operators/exponential_bank.hpp"
#include "wane/operators/gla.hpp"
#include "wane/operators/laplace_coefficients.hpp"
#include "wane/operators/linear_attention.hpp"
#include "wane/operators/linear_recurrence.hpp"
#include "wane/operators/local_attention.hpp"
#include "wane/operators/vla.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"
#include "wane/run/runner_name.hpp"

namespace {

using wane::index;

// Numbers of a tensor [1, T, 1, n], all different.
struct numbers {
  index time, count;
  std::vector<float> all;

  numbers(index tokens, index n) : time(tokens), count(n) {
    for (index i = 0; i < tokens * n; ++i) all.push_back(0.1f + 0.01f * static_cast<float>(i % 37));
  }
  operator wane::sequence_view<float const>() const { return {all.data(), 1, time, 1, count}; }
  wane::sequence_view<float> view() { return {all.data(), 1, time, 1, count}; }
};

constexpr index tokens = 100, rows = 16, columns = 32;

// Runs, steps through and differentiates `op`, and gives the name of its runner. Steps agree with
// the run, and the adjoint writes every gradient of the values.
template <class Op>
std::string_view passes(Op const& op, typename Op::gradients const& gradients, numbers& of_values) {
  index const outputs = wane::output_shape_of(op).columns;
  numbers y(tokens, outputs), stepped(tokens, outputs);
  wane::run(op, y.view());
  using T = wane::accumulate_type<Op>;
  wane::recurrent_state<T> state(op);
  wane::step(op, stepped.view(), state);
  for (std::size_t i = 0; i < y.all.size(); ++i)
    EXPECT_NEAR(y.all[i], stepped.all[i], 1e-4f * (1 + std::abs(y.all[i])));
  std::fill(of_values.all.begin(), of_values.all.end(), std::nanf(""));
  wane::adjoint(op, numbers(tokens, outputs).view(), gradients);
  for (float g : of_values.all) EXPECT_FALSE(std::isnan(g));
  EXPECT_FALSE(wane::runner_name(op, y.view(), wane::state_view<T>(state)).empty());
  EXPECT_FALSE(wane::runner_name(op, y.view(), gradients, wane::adjoint_options<T>{}).empty());
  return wane::runner_name(op, y.view());
}

TEST(Doors, GiveEveryPassOfEveryForm) {
  numbers const q(tokens, rows), k(tokens, rows), v(tokens, columns), one(tokens, 1);
  numbers dv(tokens, columns), other(tokens, 1);
  wane::keyed_inputs<float> const in{.query = q, .key = k, .value = v};
  std::vector<float> const rates(rows, -0.01f), angles(rows, 0.3f), half_lives(rows, 0.01f);
  std::vector<std::complex<float>> const read_out(rows, {0.1f, 0.2f});
  auto const of_nodes = [](auto const& x) {
    return wane::view<typename std::remove_reference_t<decltype(x)>::value_type const, 2>(x.data(),
                                                                                          1, rows);
  };

  wane::linear_recurrence<wane::decay_as::factor, float> const scan({.decay = v, .drive = v});
  EXPECT_EQ(passes(scan, {.drive = dv.view()}, dv), "channels");

  wane::gla const memory(in, wane::no_gate());
  EXPECT_EQ(passes(memory, {.value = dv.view()}, dv), "panels");

  wane::linear_attention<float> const mean(in);
  EXPECT_EQ(passes(mean, {.value = dv.view()}, dv), "panels");

  wane::vla<float> const vla({.query = q, .key = k, .value = v});
  EXPECT_EQ(passes(vla, {.value = dv.view()}, dv), "penalty");

  wane::local_attention<float> const recent(in, {.window = 8});
  EXPECT_EQ(passes(recent, {.value = dv.view()}, dv), "in_order");

  wane::exponential_bank<float> const bank({.value = v,
                                            .log_decay = of_nodes(rates),
                                            .key = of_nodes(half_lives),
                                            .query = of_nodes(rates)});
  EXPECT_EQ(passes(bank, {.value = dv.view()}, dv), "lags");

  wane::laplace<float> const nodes({.value = v}, {.sigma = of_nodes(half_lives),
                                                  .omega = of_nodes(angles),
                                                  .read_out = {read_out.data(), 1, rows, 1}});
  EXPECT_EQ(passes(nodes, {.value = dv.view()}, dv), "poles");

  wane::laplace_coefficients const coefficients(nodes);
  EXPECT_EQ(passes(coefficients, {.value = dv.view()}, dv), "coefficients");

  wane::gla<float, wane::no_gate> const below({.query = q, .key = k, .value = one}, {});
  wane::quotient_of const quotient(memory, below);
  EXPECT_EQ(passes(quotient, {{.value = dv.view()}, {.value = other.view()}}, dv), "pairs");
}

}  // namespace
