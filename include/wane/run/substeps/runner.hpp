// The runner of operators with substeps: their recurrence over substeps runs by the table.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/substeps.hpp"
#include "wane/run/in_order/run.hpp"
#include "wane/run/shared/by_table.hpp"
#include "wane/run/substeps/call.hpp"

namespace wane::impl {

// Calls body(recurrence over substeps, outputs, options) for a call of run.
template <has_substeps Op, class Out, class State, class Body>
void run_substeps(Op const& op, sequence_view<Out> const& output, run_options<State> const& options,
                  Body const& body) {
  bool const backward = options.direction == direction::reverse;
  index const sequences = sequences_of(op.shape(), options.packed);
  substep_options<run_options<State>, State> const call(options, op.substeps(), sequences);
  sequence_view<of_substeps<Out>> const of_tokens(output, substep_order{op.substeps(), backward},
                                                  op.reading_substeps());
  body(op.in_substeps(backward), of_tokens, call.get());
}

template <has_substeps Op, class Out, class State>
void run_in_order(Op const& op, sequence_view<Out> const& output,
                  run_options<State> const& options) {
  run_substeps(op, output, options, [](auto const& sub, auto const& y, auto const& call) {
    run_in_order(sub, y, call);
  });
}

}  // namespace wane::impl

namespace wane::impl::runners {

struct substeps {
  static constexpr std::string_view name = "substeps";
  template <class Op, class Out>
  static constexpr bool takes = has_substeps<Op>;

  static void run(auto const& op, auto const& output, auto const& options) {
    run_substeps(op, output, options, [](auto const& sub, auto const& y, auto const& call) {
      run_by_table(sub, y, call);
    });
  }

  template <class Op, class Out, class State>
  static void step(Op const& op, walk const& w, sequence_view<Out> const& output,
                   view<State, 2> const& state) {
    bool const backward = w.stride < 0;
    index const n = op.substeps(), first = w.first * n + (backward ? n - 1 : 0);
    walk const of_walk{
        w.sequence, w.batch, w.head, first, w.count * n, w.stride, (w.position - 1) * n + 1};
    step_by_table(
        op.in_substeps(backward), of_walk,
        sequence_view<of_substeps<Out>>(output, substep_order{n, backward}, op.reading_substeps()),
        state);
  }

  template <class Op, class Gradients>
  static void check_adjoint(Op const& op, Gradients const& to, auto const&, index sequences) {
    if constexpr (requires { op.check_gradients(to); })
      op.check_gradients(to);
    else
      check_gradients(op, to, sequences);
  }
  template <class Op, class Out, class Gradients, class State>
  static void adjoint(Op const& op, sequence_view<Out const> const& dy, Gradients const& to,
                      adjoint_options<State> const& options) {
    bool const backward = options.direction == direction::reverse;
    index const n = op.substeps(), sequences = sequences_of(op.shape(), options.packed);
    substep_options<adjoint_options<State>, State> const call(options, n, sequences);
    adjoint_by_table(op.in_substeps(backward),
                     sequence_view<of_substeps<Out> const>(dy, substep_order{n, backward},
                                                           op.reading_substeps()),
                     op.in_substeps(to, backward), call.get());
  }
};

}  // namespace wane::impl::runners
