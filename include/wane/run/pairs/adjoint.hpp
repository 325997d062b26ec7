// adjoint of pairs of recurrences: from the gradient of what they give together to that of each.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/attention/adjoint.hpp"
#include "wane/run/pairs/run.hpp"

namespace wane {

// Calls body(da, db) with the gradients of the outputs of both parts, of a sum dy itself.
template <class First, class Second, class Out, class State, class Body>
void with_part_gradients(sum_of<First, Second> const&, sequence_view<Out const> const& dy,
                         adjoint_options<State> const&, Body const& body) {
  body(dy, dy);
}

// Of a quotient n and d are computed once more, and held.
template <class First, class Second, class Out, class State, class Body>
void with_part_gradients(quotient_of<First, Second> const& op, sequence_view<Out const> const& dy,
                         adjoint_options<State> const& options, Body const& body) {
  using T = accumulate_type<quotient_of<First, Second>>;
  held_outputs<T> numerators(output_shape_of(op.first())),
      denominators(output_shape_of(op.second()));
  sequence_view<T> const a = numerators.view(), b = denominators.view();
  run_parts(op, a, b, run_of(options));
  for_each_place(op.shape(), options, [&](place<> at) {
    T& d = *b.element(at, 0);
    gradient_of_quotient(dy, at, op.divisor(d), a.extent[3], a.element(at, 0), d);
  });
  body(sequence_view<T const>(a), sequence_view<T const>(b));
}

// Throws wane::error where gradients do not fit what they are of, or a part goes no such way.
template <class Op, class Gradients, class State>
void check_adjoint(Op const& op, Gradients const& to, adjoint_options<State> const& options,
                   index sequences) {
  if constexpr (windowed_attention<Op>) {
    check_gradients(op.whole(), to);
    check_whole(options, sequences);
  } else {
    check_gradients(op, to, sequences);
  }
  if constexpr (paired_recurrence<Op> && requires { to.first, to.second; }) {
    check_adjoint(op.first(), to.first, options, sequences);
    check_adjoint(op.second(), to.second, options, sequences);
  }
}

// As for other recurrences: to the gradients of both parts, which Op::gradients most often are, and
// of the initial state of the pair. Where a part is local attention, the initial state must have
// seen no tokens (wane/run/attention/adjoint.hpp).
// Throws wane::error, before anything is written, when a shape does not fit.
template <paired_recurrence Op, class Out, class Gradients, class State = accumulate_type<Op>>
void adjoint(Op const& op, sequence_view<Out> output_gradient, Gradients const& gradients,
             adjoint_options<State> const& options = {}) {
  index const sequences = check_shapes(op, output_gradient, options);
  check_adjoint(op, gradients, options, sequences);

  auto const options_of = [&](auto const& part_of) {
    adjoint_options<State> own = options;
    own.initial = part_of(options.initial);
    own.final_gradient = part_of(options.final_gradient);
    own.initial_gradient = part_of(options.initial_gradient);
    return own;
  };
  auto const& to = op.of_parts(gradients);
  with_part_gradients(op, sequence_view<Out const>(output_gradient), options,
                      [&](auto const& a, auto const& b) {
                        adjoint(op.second(), b, to.second,
                                options_of([&](auto const& s) { return op.state_of_second(s); }));
                        adjoint(op.first(), a, to.first,
                                options_of([&](auto const& s) { return op.state_of_first(s); }));
                      });
}

}  // namespace wane
