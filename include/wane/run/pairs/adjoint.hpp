// The adjoint of pairs of recurrences: the gradient of their joint output, split between the parts.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/pairs/places.hpp"
#include "wane/run/pairs/quotient.hpp"
#include "wane/run/pairs/run.hpp"

namespace wane::impl {

// Calls body(da, db) with the gradients of the outputs of both parts. For a sum both are dy.
template <class First, class Second, class Out, class State, class Body>
void with_part_gradients(sum_of<First, Second> const&, sequence_view<Out const> const& dy,
                         adjoint_options<State> const&, Body const& body) {
  body(dy, dy);
}

// For a quotient the numerators n and denominators d are computed again, and held.
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

// Throws wane::error where gradients do not fit a pair or one of its parts.
template <paired_recurrence Op, class Gradients, class State>
void check_adjoint_of_pair(Op const& op, Gradients const& to, adjoint_options<State> const& options,
                           index sequences) {
  check_gradients(op, to, sequences);
  auto const& parts = op.of_parts(to);
  check_adjoint_by_table(op.first(), parts.first, options, sequences);
  check_adjoint_by_table(op.second(), parts.second, options, sequences);
}

// Fills the gradients of both parts and of the initial state of the pair.
template <paired_recurrence Op, class Out, class Gradients, class State>
void adjoint_pair(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
                  adjoint_options<State> const& options) {
  auto const& to = op.of_parts(gradients);
  with_part_gradients(
      op, dy, options, [&]<class T>(sequence_view<T> const& a, sequence_view<T> const& b) {
        adjoint_by_table(op.second(), b, to.second,
                         part_of(options, [&](auto const& s) { return op.state_of_second(s); }));
        adjoint_by_table(op.first(), a, to.first,
                         part_of(options, [&](auto const& s) { return op.state_of_first(s); }));
      });
}

}  // namespace wane::impl
