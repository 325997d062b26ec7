// adjoint: gradients of a run with respect to inputs, parameters and initial state.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/gradient.hpp"
#include "wane/run/runners.hpp"

namespace wane::impl {

// Fails to compile, with a sentence, where a member of a sink would never be called.
template <class Op, class Gradients>
consteval void check_sink() {
  using T = accumulate_type<Op>;
  using Sink = sink_of<Gradients, Op>;
  static_assert(
      !channelwise<Op> || (!takes_rows<Sink, T> && !takes_tokens<Sink, T> && !takes_all<Sink, T>),
      "wane::adjoint: the gradients of a channelwise recurrence go to element(j, ...) or "
      "column(j, ...) of the sink; this one has row, whole or all");
  constexpr bool by_column =
      !channelwise<Op> && (decays_by_element<token_of<Op>> || has_skip<token_of<Op>>);
  static_assert(by_column || !takes_all_of_columns<Sink, index, T>,
                "wane::adjoint: all_of_column(j, ...) of a sink is for recurrences with rows that "
                "decay by element, or with a skip");
  static_assert(!by_column || takes_all_of_columns<Sink, index, T> ||
                    (!takes_rows<Sink, T> && !takes_tokens<Sink, T> && !takes_all<Sink, T>),
                "wane::adjoint: the gradients of decays by element and of a skip go to "
                "all_of_column(j, ...), once a token and column; the sink has row, whole or all, "
                "and lacks it");
  static_assert(channelwise<Op> || !takes_elements<Sink, index, T>,
                "wane::adjoint: element(j, ...) of a sink is for channelwise recurrences; the "
                "gradients of this one go to column, row and whole");
  static_assert(!takes_rates<Gradients, wider<T>> || (has_rates<Op> && !channelwise<Op>),
                "wane::adjoint: rate(sequence, head, i, j, g) of gradients is for operators with "
                "rows that have rate(head, i, j), their tokens step(j)");
  static_assert(takes_rates<Gradients, wider<T>> || !has_rate_member<Gradients>,
                "wane::adjoint: rate(sequence, head, i, j, g) of gradients is const and takes "
                "double, or the wider type; one here does not, and would not be called");
  static_assert(takes_what_it_names<Sink, T>,
                "wane::adjoint: element, column, row and whole of a sink take gradients of the "
                "type the recurrence computes in; one here takes another, and would not be called");
}

// Fails to compile, with a sentence, where there is no such adjoint.
template <class Op, class Dy, class Gradients, class State>
consteval bool may_have_adjoint() {
  if constexpr (!diagonal_recurrence<Op>) {
    static_assert(diagonal_recurrence<Op>, "wane::adjoint: this type is no recurrence");
    return false;
  } else {
    static_assert(
        has_adjoint<Op, Dy, Gradients, State>,
        "wane::adjoint: only an affine recurrence, one that brings terms, or a step that is also "
        "taken back, retreat(place, before, output_gradient, state_gradient, gradients), has an "
        "adjoint here; this type has advance alone, or retreat for gradients of another type");
    if constexpr (affine_recurrence<Op> && !pole_bank<Op>) check_sink<Op, Gradients>();
    return true;
  }
}

// Throws wane::error where an argument of an adjoint does not fit. Returns the number of sequences.
template <class Op, class Out, class Gradients, class State>
index check_adjoint(Op const& op, sequence_view<Out> const& output_gradient,
                    Gradients const& gradients, adjoint_options<State> const& options) {
  index const sequences = check_shapes(op, output_gradient, options);
  check_adjoint_by_table(op, gradients, options, sequences);
  if constexpr (has_parameters<Gradients>) check_box(op.shape(), options, {false, false, false});
  return sequences;
}

}  // namespace wane::impl

namespace wane {

//   adjoint(op, output_gradient, {.query = dq, .key = dk, .value = dv});
//
// The vector-Jacobian product of run(op, y, ...). output_gradient: dL/dy, [B, T, H, columns].
// `gradients` receives the gradients by all that the operator was made of; most often it is an
// Op::gradients, whose absent views are skipped. Each has the shape of its input, except that what
// heads share (queries, keys) has a gradient for each of the H heads; sum_over_groups adds these
// up. Those of parameters are summed over tokens, in double for float. They are written, not added
// to what is there. The options take dL/dstate at the end and receive it at the start.
//
// The result is the same bits for any number of threads. Gradients must not overlap inputs. Memory
// held beside them, by form of the operator:
//   memories with keys    the states of every 16th to 64th token, or, where nothing erases and
//                         decays have no gradient, T x rows numbers a head
//   linear_recurrence     the states of every 16th to 4096th token
//   exponential_bank      the states of every 12th to 384th token
//   means (normalised)    as memories with keys, and the sums, B T H columns numbers
//   banks of poles        one state; for coefficients of nodes too
//   penalised memories    three vectors of K numbers a token and head, and the states of S
//   parameters            a number of each token for each number of the parameter
//   led memories          the leads, and gradients of as many numbers or a few times more
//   levels                a gradient of each term of each token, and the memory of one level
//   quotients of two      both outputs, and the memory of both parts
//   steps taken back      about 2 sqrt(T) states a sequence and head
//   local attention       three numbers of each token and head
// Throws wane::error, before anything is written, when a shape does not fit. Where memory runs out
// (std::bad_alloc), or a token of `op` throws, gradients may be written in part.
template <class Op, class Out = output_type<Op> const, class Gradients = impl::own_gradients<Op>,
          class State = accumulate_type<Op>>
void adjoint(Op const& op, sequence_view<Out> output_gradient, Gradients const& gradients,
             adjoint_options<State> const& options = {}) {
  using Dy = std::remove_const_t<Out>;
  if constexpr (impl::may_have_adjoint<Op, Dy, Gradients, State>()) {
    impl::check_adjoint(op, output_gradient, gradients, options);
    impl::adjoint_by_table(op, sequence_view<Dy const>(output_gradient), gradients, options);
  }
}

}  // namespace wane
