// runner_name says which runner carries out a call.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/runners.hpp"

namespace wane {

//   runner_name(op, output)  // "panels"
//
// The name of the runner that would carry out run, step or adjoint with the same arguments; nothing
// is run. Most names are folders of wane/run: "panels" runs memories with keys in micro-chunks,
// "in_order" runs what no faster runner takes.
template <diagonal_recurrence Op, class Out, class State = accumulate_type<Op>>
std::string_view runner_name(Op const& op, sequence_view<Out> output,
                             run_options<State> const& options = {}) {
  using pass = impl::run_pass<Op, Out, State>;
  impl::check_run(op, output, options);
  return impl::first_taker<Op, Out>(impl::asked_pass<pass>{{op, output, options}},
                                    impl::cpu_runners{});
}
template <diagonal_recurrence Op, class Out, class State>
std::string_view runner_name(Op const& op, sequence_view<Out> output, state_view<State> state) {
  using pass = impl::step_pass<Op, Out, State>;
  impl::check_state("state", state, op.shape().batch, op.shape());
  impl::walk const token = impl::walk_of(0, op.shape(), run_options<State>{}, nullptr);
  view<State, 2> const of_head = impl::state_of(state, 0, 0);
  return impl::first_taker<Op, Out>(impl::asked_pass<pass>{{op, token, output, of_head}},
                                    impl::cpu_runners{});
}
template <diagonal_recurrence Op, class Out, class Gradients, class State>
std::string_view runner_name(Op const& op, sequence_view<Out> output_gradient,
                             Gradients const& gradients, adjoint_options<State> const& options) {
  using Dy = std::remove_const_t<Out>;
  using pass = impl::adjoint_pass<Op, Dy, Gradients, State>;
  impl::check_adjoint_by_table(op, gradients, options,
                               impl::check_shapes(op, output_gradient, options));
  sequence_view<Dy const> const dy = output_gradient;
  return impl::first_taker<Op, Dy>(impl::asked_pass<pass>{{op, dy, gradients, options}},
                                   impl::cpu_runners{});
}

}  // namespace wane
