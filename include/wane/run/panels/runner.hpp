// The runner of affine recurrences in micro-chunks of four tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/panels/adjoint.hpp"
#include "wane/run/panels/run.hpp"
#include "wane/run/panels/step.hpp"
#include "wane/run/panels/two_way_adjoint.hpp"

namespace wane::impl::runners {

// Time-invariant recurrences use panels for single tokens only; run has faster runners for them.
struct panels {
  static constexpr std::string_view name = "panels";
  static constexpr int cost = 1;
  template <class Op, class Out>
  static constexpr bool takes = runs_in_panels<Op> && !channelwise<Op>;

  template <class Op, class Out, class State>
  requires(!time_invariant<Op>) static void run(Op const& op, sequence_view<Out> const& output,
                                                run_options<State> const& options) {
    run_panels(op, output, options);
  }

  template <class Op, class Out, class State>
  requires std::same_as<State, accumulate_type<Op>>
  static bool accepts_step(Op const& op, walk const&, sequence_view<Out> const& output,
                           view<State, 2> const& state) {
    return token_panel<Op, Out>::takes(op, output, state);
  }
  template <class Op, class Out, class State>
  requires std::same_as<State, accumulate_type<Op>>
  static void step(Op const& op, walk const& w, sequence_view<Out> const& output,
                   view<State, 2> const& state) {
    step_panels(op, w, output, state);
  }

  template <class Op, class Out, class Gradients, class State>
  requires(!time_invariant<Op>) static void adjoint(Op const& op, sequence_view<Out> const& dy,
                                                    Gradients const& to,
                                                    adjoint_options<State> const& options) {
    if constexpr (has_two_way_adjoint<Op>)
      if (recurrence_shape(op.shape()).columns >= least_two_way_columns && two_ways_fit(op))
        return adjoint_two_ways(op, dy, to, options);
    adjoint_panels(op, dy, to, options);
  }
};

}  // namespace wane::impl::runners
