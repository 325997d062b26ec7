// The runner of memories with few rows that decay by element.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/elements/adjoint.hpp"
#include "wane/run/elements/run.hpp"

namespace wane::impl::runners {

struct elements {
  static constexpr std::string_view name = "elements";
  static constexpr int cost = 16;
  template <class Op, class Out>
  static constexpr bool takes = runs_by_elements<Op>;

  template <class Op, class Out>
  static bool accepts_run(Op const& op, sequence_view<Out> const& output, auto const&) {
    return element_runner<Op, Out>(op, output).usable();
  }
  static void run(auto const& op, auto const& output, auto const& options) {
    run_elements(op, output, options);
  }

  template <class Op, class Out, class State>
  requires std::same_as<State, accumulate_type<Op>>
  static bool accepts_step(Op const& op, walk const&, sequence_view<Out> const& output,
                           view<State, 2> const& state) {
    return state.stride[1] == 1 && element_runner<Op, Out>(op, output).usable();
  }
  template <class Op, class Out, class State>
  requires std::same_as<State, accumulate_type<Op>>
  static void step(Op const& op, walk const& w, sequence_view<Out> const& output,
                   view<State, 2> const& state) {
    element_runner<Op, Out>(op, output)(w, 0, state.extent[1], state);
  }

  template <class Op, class Out, class Gradients, class State>
  requires(has_element_adjoint<Op>&& gives_lanes<Op, Gradients>()) static bool accepts_adjoint(
      Op const& op, sequence_view<Out> const& dy, Gradients const& to,
      adjoint_options<State> const&) {
    return (layout_of(op) & layout_of(dy) & to.layout()).columns &&
           recurrence_shape(op.shape()).rows <= rows_of_strip;
  }
  template <class Op, class Out, class Gradients, class State>
  requires(has_element_adjoint<Op>&& gives_lanes<Op, Gradients>()) static void adjoint(
      Op const& op, sequence_view<Out> const& dy, Gradients const& to,
      adjoint_options<State> const& options) {
    adjoint_elements(op, dy, to, options);
  }
};

}  // namespace wane::impl::runners
