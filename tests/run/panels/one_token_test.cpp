// A run of one token gives the bits of step, wherever its state lies and however many threads run.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/affine_memory.hpp"
#include "wane/operators/gated_delta_net.hpp"
#include "wane/operators/gla.hpp"
#include "wane/operators/linear_attention.hpp"
#include "wane/run/run.hpp"

namespace {

using support::index;
using support::memory;
using support::tensor;
using wane::recurrent_state;
using wane::run_options;
using wane::state_view;

template <class State>
void fill(State& state) {
  support::random_values random(3);
  for (auto& x : state.values()) x = static_cast<float>(random.uniform(-1, 1));
}

// The output and the state after each of the calls below must be these.
struct expected {
  tensor<float> output;
  recurrent_state<float> state;

  template <class Op>
  expected(Op const& op, recurrent_state<float> const& initial, index columns)
      : output(op.shape().batch, op.shape().time, op.shape().heads, columns), state(initial) {
    wane::step(op, output.view(), state);
  }
  void expect_output(tensor<float> const& y) const {
    y.for_each([&](index b, index t, index h, index j) {
      EXPECT_EQ(y(b, t, h, j), output(b, t, h, j)) << "column " << j;
    });
    EXPECT_TRUE(y.margins_untouched());
  }
};

template <class Op>
void expect_step(Op const& op, index columns) {
  wane::recurrence_shape const s = op.shape();
  recurrent_state<float> initial(op);
  expected const zero(op, initial, columns);
  fill(initial);
  expected const want(op, initial, columns);
  tensor<float> y(s.batch, s.time, s.heads, columns);
  for (int threads : {1, 2, 5}) {
    SCOPED_TRACE(std::to_string(columns) + " columns, threads " + std::to_string(threads));
    recurrent_state<float> after(op);
    fill(after);
    wane::run(op, y.view(), run_options<float>{.final = after, .threads = threads});
    zero.expect_output(y);
    EXPECT_EQ(after.values(), zero.state.values());
    wane::run(op, y.view(),
              run_options<float>{.initial = initial, .final = after, .threads = threads});
    want.expect_output(y);
    EXPECT_EQ(after.values(), want.state.values());
    EXPECT_EQ(after.positions(), want.state.positions());
    wane::run(op, y.view(), run_options<float>{.initial = initial, .threads = threads});
    want.expect_output(y);
    recurrent_state<float> both = initial;
    wane::run(op, y.view(), run_options<float>{.initial = both, .final = both, .threads = threads});
    want.expect_output(y);
    EXPECT_EQ(both.values(), want.state.values());
    // A state of another type, and one whose columns are not neighbours.
    recurrent_state<double> wide(op);
    fill(wide);
    wane::run(op, y.view(),
              run_options<double>{.initial = wide, .final = wide, .threads = threads});
    want.expect_output(y);
    for (std::size_t i = 0; i < wide.values().size(); ++i)
      EXPECT_EQ(wide.values()[i], static_cast<double>(want.state.values()[i]));
    std::vector<float> apart(2 * initial.values().size(), 7);
    state_view<float> strided{{apart.data(), s.batch, s.heads, s.rows, 2 * s.columns}};
    strided.values.extent[3] = s.columns, strided.values.stride[3] = 2;
    wane::run(op, y.view(),
              run_options<float>{.initial = initial, .final = strided, .threads = threads});
    want.expect_output(y);
    for (std::size_t i = 0; i < apart.size(); ++i)
      EXPECT_EQ(apart[i], i % 2 ? 7 : want.state.values()[i / 2]);
  }
}

TEST(OneToken, IsAStep) {
  for (index columns : {3, 16, 70, 300}) {
    memory<float> const m(2, 1, 3, 20, columns);
    expect_step(wane::gla<float, wane::token_view<float const>>(m.in(), m.gate()), columns);
    expect_step(wane::gated_delta_net<float, wane::token_view<float const>>(m.delta_in(), m.gate()),
                columns);
    expect_step(wane::linear_attention<float>(m.in()), columns);
  }
}

TEST(OneToken, OfManyPackedSequences) {
  memory<float> const m(1, 6, 2, 20, 40);
  std::vector<index> const starts{0, 1, 2, 3, 3, 4, 6};
  wane::gla<float, wane::token_view<float const>> const op(m.in(), m.gate());
  recurrent_state<float> state(op, 6);
  fill(state);
  tensor<float> y(1, 6, 2, 40), z(1, 6, 2, 40);
  recurrent_state<float> after = state;
  wane::run(op, y.view(), run_options<float>{.initial = state, .final = after, .packed = {starts}});
  // One sequence after the other.
  for (index n = 0; n < 6; ++n) {
    auto const own = [n](recurrent_state<float>& of) {
      auto v = static_cast<state_view<float>>(of).values;
      v.data += n * v.stride[0], v.extent[0] = 1;
      return state_view<float>{v};
    };
    index const first = starts[static_cast<std::size_t>(n)],
                last = starts[static_cast<std::size_t>(n) + 1];
    if (first == last) continue;
    auto const in = m.in();
    wane::gla<float, wane::token_view<float const>> const part(
        {.query = in.query.tokens(first, last),
         .key = in.key.tokens(first, last),
         .value = in.value.tokens(first, last)},
        m.gate().tokens(first, last));
    wane::run(part, z.view().tokens(first, last),
              run_options<float>{.initial = own(state), .final = own(state)});
  }
  EXPECT_EQ(after.values(), state.values());
  y.for_each([&](index b, index t, index h, index j) { EXPECT_EQ(y(b, t, h, j), z(b, t, h, j)); });
}

}  // namespace
