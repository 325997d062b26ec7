// Calls over ranks of any engine, each rank's part against a run of the whole.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include "support/memory_problems.hpp"
#include "wane/ranks.hpp"
#include "wane/run/run.hpp"
#include "wane/testing/problem.hpp"

namespace wane::testing {

// The cut before each rank, and the end; rank 1 has no tokens where there are three ranks or more.
template <class Ranks>
std::vector<index> cuts(Ranks const& ranks, index time) {
  std::vector<index> at;
  for (index r = 0; r <= ranks.size(); ++r) at.push_back(time * r / ranks.size());
  if (ranks.size() > 2) at[2] = at[1];
  return at;
}

// Each rank finds its part of the outputs and gradients that one process finds.
template <class Ranks, class P>
void expect_same(Ranks const& ranks, P problem, double bound) {
  using Op = operator_of<P>;
  using T = accumulate_type<Op>;
  Op const all = problem.make(0, problem.time());
  recurrence_shape const shape = all.shape(), outputs = output_shape_of(all);
  recurrent_state<T> initial(all);
  std::mt19937_64 bits(1);
  impl::begin_states(problem, initial, bits);
  result<T, output_type<Op>> whole(outputs, initial), parts = whole;
  run(all, whole.view(), run_options<T>{.initial = initial, .final = whole.state, .threads = 1});

  auto const at = cuts(ranks, problem.time());
  auto const rank = static_cast<std::size_t>(ranks.rank());
  index const begin = at[rank], end = at[rank + 1];
  recurrent_state<T> start(all);
  sharding<T> const shard{.start = start};
  sharded_run(ranks, problem.make(begin, end), parts.view().tokens(begin, end),
              run_options<T>{.initial = initial, .final = parts.state, .threads = 1}, shard);
  distance outputs_apart, states_apart, gradients_apart;
  for (index b = 0; b < shape.batch; ++b)
    for (index t = begin; t < end; ++t)
      for (index h = 0; h < shape.heads; ++h)
        for (index j = 0; j < outputs.columns; ++j)
          outputs_apart.see<output_type<Op>>({parts.view()(b, t, h, j)},
                                             {whole.view()(b, t, h, j)});
  EXPECT_LE(outputs_apart.relative(), bound);
  if (ranks.rank() + 1 == ranks.size()) {
    states_apart.see<T>(parts.state.values(), whole.state.values());
    EXPECT_LE(states_apart.relative(), bound);
    EXPECT_EQ(parts.state.positions(), whole.state.positions());
  }

  using Input = impl::input_of<P>;
  P own = problem;
  for (P* p : {&problem, &own})
    for (auto gradient : p->input_gradients())
      std::fill(gradient.begin(), gradient.end(), Input(0));
  result<T, output_type<Op>> dy(outputs, initial);
  dy.output = random_numbers<output_type<Op>>(whole.output.size(), bits);
  adjoint(all, dy.view(), problem.gradients(),
          adjoint_options<T>{.initial = initial, .threads = 1});
  sharded_adjoint(ranks, own.make(begin, end), dy.view().tokens(begin, end),
                  own.gradients(begin, end), adjoint_options<T>{.initial = initial, .threads = 1},
                  shard);
  // The sum over ranks is the gradient of the whole, of parameters too.
  auto const expected = problem.input_gradients();
  auto const found = own.input_gradients();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::vector<Input> sum(found[i].begin(), found[i].end());
    sum_over_ranks(ranks, std::span(sum));
    gradients_apart.see<Input>(sum, {expected[i].begin(), expected[i].end()});
  }
  EXPECT_LE(gradients_apart.relative(), bound);
}

// A rank whose output is too long throws, and all others say which and why; the group goes on.
template <class Ranks>
void expect_failure_for_all(Ranks const& ranks, memory_size const& size) {
  gla_problem<float> const problem(size);
  int const bad = ranks.size() / 2;
  auto const op = problem.make(0, ranks.rank() == bad ? 7 : 9);
  std::vector<float> y(9 * 5 * 9);
  try {
    sharded_run(ranks, op, {y.data(), 1, 9, 5, 9}, run_options<float>{});
    ADD_FAILURE() << "nothing was thrown";
  } catch (rank_failure const& e) {
    EXPECT_EQ(e.rank(), bad);
    EXPECT_EQ(std::string(e.what()),
              "rank " + std::to_string(bad) + " failed: output has time 9; it must be 7");
  } catch (error const& e) {
    EXPECT_EQ(ranks.rank(), bad);
    EXPECT_EQ(std::string(e.what()), "output has time 9; it must be 7");
  }
  expect_same(ranks, gla_problem<double>(size), 1e-12);  // the group can still be used
}

}  // namespace wane::testing
