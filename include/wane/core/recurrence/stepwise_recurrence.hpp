// stepwise_recurrence: the concept of recurrences with a step of their own, forward and back.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/recurrence.hpp"

namespace wane {

// A recurrence that is not affine in its state has its own step, advance(place, state, write),
// which updates `state`, a view of rows x columns, and calls write(j, y) for output j, or for lanes
// j of outputs. Its member `accumulate` is the type it computes in. It runs in order.
template <class Op>
concept stepwise_recurrence = has_shape<Op> && requires {
  typename Op::accumulate;
} && requires(Op const& op, place<> at, view<typename Op::accumulate, 2> state,
              void (&write)(index, typename Op::accumulate)) {
  op.advance(at, state, write);
};

// It has an adjoint, too, where it also takes one token back, for gradients of a type of its own:
//   retreat(place, before, output_gradient, state_gradient, gradients)
// `before` is the state that the token found. `state_gradient` holds dL/d(state after the token),
// and receives dL/d(state before it). The outputs of the token have their part in both:
// output_gradient.read(place, j) is dL/dy_j. `gradients` are those of the call. The tokens of a
// sequence and head come on one thread, the last one first, so that a gradient that they share may
// be summed in memory of this sequence and head.
template <class Op, class Gradients, class Out = output_type<Op>>
concept retreating_recurrence = stepwise_recurrence<Op> &&
    requires(Op const& op, place<> at, view<accumulate_type<Op> const, 2> before,
             sequence_view<Out const> output_gradient, view<accumulate_type<Op>, 2> state_gradient,
             Gradients const& gradients) {
  op.retreat(at, before, output_gradient, state_gradient, gradients);
};

}  // namespace wane

namespace wane::impl {

// A state of rows x columns as a tensor of one token for each row, so that it is read in lanes.
template <class T>
sequence_view<T> rows_of(view<T, 2> const& x) {
  return {x.data, {1, x.extent[0], 1, x.extent[1]}, {0, x.stride[0], 0, x.stride[1]}};
}

}  // namespace wane::impl
