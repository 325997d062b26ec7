// Operators that depend on positions refuse to begin with a state that has none.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <vector>

#include "support/expect_error.hpp"
#include "support/laplace_problem.hpp"
#include "wane/operators/gates/gates.hpp"
#include "wane/operators/gla.hpp"
#include "wane/operators/laplace_coefficients.hpp"
#include "wane/operators/local_attention.hpp"
#include "wane/operators/mamba2.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/run.hpp"

namespace {

using wane::index;

// Two tokens of one head, two rows and two columns.
struct inputs {
  std::vector<float> rows{1, 2, 3, 4}, raw{-1, -2}, taper{0.5}, A{-1};
  wane::sequence_view<float const> all{rows.data(), 1, 2, 1, 2};
  wane::token_view<float const> of_tokens{raw.data(), 1, 2, 1};
  wane::view<float const, 1> of_head{taper.data(), 1};

  auto memory(wane::taper<float> const& how) const {
    return wane::gla({.query = all, .key = all, .value = all},
                     wane::softplus_gate(of_tokens, {.taper = how}));
  }
};

// run and step with a state without positions are refused, and with positions not.
template <class Op>
void expect_positions(Op const& op, bool needed) {
  wane::recurrent_state<typename Op::accumulate> state(op);
  auto const shape = wane::output_shape_of(op);
  std::vector<float> numbers(static_cast<std::size_t>(2 * shape.columns));
  wane::sequence_view<float> const y(numbers.data(), 1, 2, 1, shape.columns);
  using A = typename Op::accumulate;
  wane::state_view<A> bare = state;
  bare.positions = nullptr;
  auto const run = [&](wane::state_view<A const> initial) {
    wane::run(op, y, wane::run_options<A>{.initial = initial});
  };
  EXPECT_EQ(wane::counts_positions(op), needed);
  run(state), wane::step(op, y, state);
  run({}), wane::run(op, y, wane::run_options<A>{.final = bare});
  if (needed) {
    support::expect_error({"initial has no positions", "how many tokens"}, [&] { run(bare); });
    support::expect_error({"state has no positions"}, [&] { wane::step(op, y, bare); });
  } else {
    run(bare), wane::step(op, y, bare);
  }
}

TEST(Positions, AreNeededByTapers) {
  inputs const x;
  expect_positions(x.memory({x.of_head}), true);
  expect_positions(x.memory({}), false);
  wane::mamba2_inputs<float> in{
      .x = x.all, .dt = x.of_tokens, .A = {x.A.data(), 1}, .B = x.all, .C = x.all};
  expect_positions(wane::mamba2<float>(in), false);
  in.taper = x.of_head;
  expect_positions(wane::mamba2<float>(in), true);
}

TEST(Positions, AreNeededByRings) {
  inputs const x;
  wane::keyed_inputs<float> const in{.query = x.all, .key = x.all, .value = x.all};
  expect_positions(wane::local_attention<float>(in, {.window = 2}), true);
  using wane::spectra::window_shape;
  support::laplace_problem<double, window_shape::rectangular> const ends({.batch = 1, .tokens = 2});
  support::laplace_problem<double, window_shape::gaussian> const fades({.batch = 1, .tokens = 2});
  EXPECT_TRUE(wane::counts_positions(ends.make(0, 2)));
  EXPECT_TRUE(wane::counts_positions(wane::laplace_coefficients(ends.make(0, 2))));
  EXPECT_FALSE(wane::counts_positions(fades.make(0, 2)));
}

TEST(Positions, OfAPairAreThoseOfItsParts) {
  inputs const x;
  expect_positions(wane::sum_of(x.memory({}), x.memory({x.of_head})), true);
  expect_positions(wane::sum_of(x.memory({}), x.memory({})), false);
}

TEST(Positions, AreNeededByAdjoints) {
  inputs const x;
  auto const op = x.memory({x.of_head});
  wane::recurrent_state<float> const state(op);
  wane::state_view<float const> bare = state;
  bare.positions = nullptr;
  wane::adjoint_options<float> options;
  options.initial = bare;
  std::vector<float> query(4);
  support::expect_error({"initial has no positions"}, [&] {
    wane::adjoint(op, x.all, {.query = {query.data(), 1, 2, 1, 2}}, options);
  });
}

}  // namespace
