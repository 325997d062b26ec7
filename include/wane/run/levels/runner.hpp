// The runner of memories with levels: each level runs by the table, and their outputs are added up.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/levels.hpp"
#include "wane/run/in_order/run.hpp"
#include "wane/run/pairs/lent_passes.hpp"
#include "wane/run/pairs/run.hpp"

namespace wane::impl {

// y += x, `count` numbers.
template <class T>
void add_numbers(index count, T const* x, T* y) {
  for (index j = 0; j < count; ++j) y[j] += x[j];
}
// Writes the outputs of a token, of which the levels answer y.
template <has_levels Op, class T, class Out>
void write_with_own(Op const& op, place<> at, T const* y, sequence_view<Out> const& output) {
  auto const own = op.own_terms(at);
  T const direct = own.direct();
  for (index j = 0; j < output.extent[3]; ++j)
    output.write(at, j, multiply_add(direct, own.value(j), y[j]));
}

// Calls run(level, outputs, options) for each level. Holds 2 B T H V numbers.
template <has_levels Op, class Out, class State, class Run>
void run_levels(Op const& op, sequence_view<Out> const& output, run_options<State> const& options,
                Run const& run) {
  recurrence_shape const shape = op.shape();
  held_outputs<accumulate_type<Op>> of_all(shape), of_one(shape);
  auto const sum = of_all.view(), one = of_one.view();
  for (index l = 1; l < op.levels(); ++l) {
    with_part_options(
        options, [&](auto const& state) { return op.state_of_level(state, l); },
        [&](auto const& own) { run(op.level(l), l == 1 ? sum : one, own); });
    if (l > 1)
      for_each_place(shape, options, [&](place<> at) {
        add_numbers(shape.columns, one.element(at, 0), sum.element(at, 0));
      });
  }
  for_each_place(shape, options,
                 [&](place<> at) { write_with_own(op, at, sum.element(at, 0), output); });
}
template <has_levels Op, class Out, class State>
void run_in_order(Op const& op, sequence_view<Out> const& output,
                  run_options<State> const& options) {
  run_levels(op, output, options, [](auto const& level, auto const& y, auto const& own) {
    run_in_order(level, y, own);
  });
}

}  // namespace wane::impl

namespace wane::impl::runners {

struct levels {
  static constexpr std::string_view name = "levels";
  static constexpr int cost = 1;
  template <class Op, class Out>
  static constexpr bool takes = has_levels<Op>;

  static void run(auto const& op, auto const& output, auto const& options) {
    run_levels(op, output, options, [](auto const& level, auto const& y, auto const& own) {
      run_by_table(level, y, own);
    });
  }
  // One token at a time. Allocates nothing up to 2048 columns.
  template <class Op, class Out, class State>
  static void step(Op const& op, walk const& w, sequence_view<Out> const& output,
                   view<State, 2> const& state) {
    index const columns = state.extent[1];
    token_outputs<accumulate_type<Op>> of_all(columns), of_one(columns);
    auto const sum = of_all.view(), one = of_one.view();
    for (index k = 0; k < w.count; ++k) {
      for (index l = 1; l < op.levels(); ++l) {
        step_by_table(op.level(l), w.part(k, 1), l == 1 ? sum : one, op.state_of_level(state, l));
        if (l > 1) add_numbers(columns, one.data, sum.data);
      }
      write_with_own(op, w.token(k), sum.data, output);
    }
  }
  static void check_adjoint(auto const& op, auto const& to, auto const&, index sequences) {
    check_gradients(op, to, sequences);
    check_gradients(op.memory(), to.memory, sequences);
  }
  static void adjoint(auto const& op, auto const& dy, auto const& to, auto const& options) {
    op.adjoint_by(lent_passes{}, dy, to, options);
  }
};

}  // namespace wane::impl::runners
