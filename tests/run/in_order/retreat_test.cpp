// A user's recurrence with a step of its own has an adjoint where it also takes a token back.
// SPDX-License-Identifier: MIT
#include "wane/run/in_order/retreat.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/laws_hold.hpp"
#include "support/problems.hpp"
#include "wane/testing/adjoint_laws.hpp"

namespace {

using support::tanh_cell;
using wane::index;

static_assert(wane::retreating_recurrence<tanh_cell, tanh_cell::gradients>);
static_assert(!wane::retreating_recurrence<tanh_cell, wane::sequence_view<double>>);

// tanh_cell on random data; the gradient of `a` is summed over all sequences and heads.
struct tanh_problem {
  std::mt19937_64 bits{4};
  wane::testing::random_tensor<double> x;
  std::vector<double> a{0.7}, of_heads, sum{0};

  tanh_problem(index b, index t, index h, index c) : x(b, t, h, c, bits) {}
  index time() const { return x.extent[1]; }
  tanh_cell make(index begin, index end) const { return {a[0], x.view().tokens(begin, end)}; }
  std::array<std::span<double>, 2> inputs() { return {x.values, a}; }
  std::array<std::span<double>, 2> input_gradients() {
    sum[0] = 0;
    for (double each : of_heads) sum[0] += each;
    return {x.gradient, sum};
  }
  tanh_cell::gradients gradients(index begin = 0, index end = -1, index sequences = -1) {
    index const n = sequences < 0 ? x.extent[0] : sequences;
    of_heads.assign(static_cast<std::size_t>(n * x.extent[2]), 0);
    return {x.gradient_view(begin, end), {of_heads.data(), n, x.extent[2]}};
  }
};

TEST(Retreat, KeepsTheLawsOfTheAdjoint) {
  for (auto [batch, time, heads, columns] :
       {std::array<index, 4>{1, 1, 1, 1}, {2, 2, 2, 3}, {3, 37, 1, 5}, {1, 100, 3, 2}}) {
    tanh_problem problem(batch, time, heads, columns);
    support::expect_to_hold(wane::testing::check_adjoint_laws(problem), "adjoint, ");
  }
}

// One of the sequences is empty: what is known of its final state is known of its initial state.
TEST(Retreat, TakesPackedSequencesInBothDirections) {
  index const time = 40, columns = 3;
  std::vector<index> const starts{0, 7, 7, 40};
  for (wane::direction way : {wane::direction::forward, wane::direction::reverse}) {
    tanh_problem packed(1, time, 1, columns), alone = packed;
    std::vector<double> dy(packed.x.values.rbegin(), packed.x.values.rend());
    wane::sequence_view<double const> const of_y(dy.data(), 1, time, 1, columns);
    wane::recurrent_state<double> initial(3, 1, 1, columns), final = initial, given = initial;
    initial.values().assign({1, 2, 3, 4, 5, 6, 7, 8, 9}), final.values().assign(9, 0.5);
    wane::adjoint(packed.make(0, time), of_y, packed.gradients(0, -1, 3),
                  {.initial = initial,
                   .final_gradient = final,
                   .initial_gradient = given,
                   .packed = {starts},
                   .direction = way});
    for (std::size_t n = 0; n < 3; ++n) {
      wane::recurrent_state<double> own(1, 1, 1, columns), last = own, back = own;
      std::copy_n(initial.values().begin() + static_cast<index>(3 * n), 3, own.values().begin());
      last.values().assign(3, 0.5);
      auto const to = alone.gradients(starts[n], starts[n + 1]);
      wane::adjoint(
          alone.make(starts[n], starts[n + 1]), of_y.tokens(starts[n], starts[n + 1]), to,
          {.initial = own, .final_gradient = last, .initial_gradient = back, .direction = way});
      EXPECT_EQ(packed.of_heads[n], alone.of_heads[0]);
      for (std::size_t j = 0; j < 3; ++j)
        EXPECT_EQ(given.values()[3 * n + j], back.values()[j]) << n;
    }
    EXPECT_EQ(packed.x.gradient, alone.x.gradient);
    EXPECT_EQ(given.values()[4], 0.5);
  }
}

// States of float, and the gradients of both ends in one state.
TEST(Retreat, TakesStatesOfAnotherType) {
  tanh_problem p(1, 30, 2, 2), q = p;
  std::vector<double> const dy(p.x.values.size(), 1);
  wane::sequence_view<double const> const of_y(dy.data(), 1, 30, 2, 2);
  wane::recurrent_state<float> narrow(1, 2, 1, 2);
  wane::recurrent_state<double> wide(1, 2, 1, 2);
  narrow.values().assign({1, 2, 3, 4}), wide.values().assign({1, 2, 3, 4});
  wane::adjoint(p.make(0, 30), of_y, p.gradients(),
                wane::adjoint_options<float>{.final_gradient = narrow, .initial_gradient = narrow});
  wane::adjoint(q.make(0, 30), of_y, q.gradients(),
                {.final_gradient = wide, .initial_gradient = wide});
  EXPECT_EQ(p.x.gradient, q.x.gradient);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(narrow.values()[i], static_cast<float>(wide.values()[i]));
}

}  // namespace
