// The checks of a call of adjoint: which gradients can be taken, and the shapes.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/gradient.hpp"
#include "wane/core/recurrence/penalised_gradients.hpp"
#include "wane/cuda/call/check_run.hpp"

namespace wane::cuda::impl {

// Whether a recurrence has gradients that are sums over columns, and whether a sink takes them.
// With decays by element or a skip these sums have no meaning.
template <class Op>
inline constexpr bool gives_sums =
    !channelwise<Op> && !decays_by_element<token_of<Op>> && !has_skip<token_of<Op>>;
template <class Gradients, class Op>
inline constexpr bool takes_sums = takes_rows<sink_of<Gradients, Op>, accumulate_type<Op>> ||
                                   takes_tokens<sink_of<Gradients, Op>, accumulate_type<Op>> ||
                                   takes_all<sink_of<Gradients, Op>, accumulate_type<Op>>;

// Checks that a sink takes only gradients that an affine recurrence has.
template <class Op, class Gradients>
consteval void check_sink() {
  using V = accumulate_type<Op>;
  using Sink = sink_of<Gradients, Op>;
  static_assert(takes_what_it_names<Sink, V>,
                "wane::cuda::adjoint: element, column, row and whole of a sink take gradients of "
                "the type the recurrence computes in; one here takes another");
  static_assert(!takes_all_of_columns<Sink, index, V>,
                "wane::cuda::adjoint: all_of_column(j, ...) of a sink, the gradients of decays by "
                "element and of a skip, is not there yet; wane::adjoint has it");
  static_assert(gives_sums<Op> || !takes_sums<Gradients, Op>,
                "wane::cuda::adjoint: row, whole and all of a sink take sums over columns; they "
                "are not there for channelwise recurrences, decays by element and skips");
  static_assert(!time_invariant<Op> || !takes_all<Sink, V>,
                "wane::cuda::adjoint: all(...) of a sink is not there for a time-invariant "
                "recurrence; row and whole are, once a head");
  static_assert(
      channelwise<Op> || !takes_elements<Sink, index, V>,
      "wane::cuda::adjoint: element(j, ...) of a sink is for channelwise recurrences; the "
      "gradients of this one go to column, row and whole");
}

// Messages at compile time for what the adjoint cannot do.
template <class Op, class Out, class Gradients>
consteval void check_adjoint() {
  check_run<Op, std::remove_const_t<Out>>();
  static_assert(std::is_trivially_copyable_v<Gradients>,
                "wane::cuda::adjoint: gradients are copied to the device; theirs must be trivially "
                "copyable, and `at` and the members of the sink WANE_HOST_DEVICE");
  if constexpr (penalised_memory<Op>)
    static_assert(penalised_gradients<Gradients, Op>,
                  "wane::cuda::adjoint: the gradients of a penalised memory are Op::gradients, or "
                  "what wane/core/recurrence/penalised_gradients.hpp says");
  else
    check_sink<Op, Gradients>();
}

// Checks a call of adjoint and returns the number of its states.
template <class Op, class Out, class Gradients, class State>
index checked_adjoint_call(Op const& op, sequence_view<Out> const& output_gradient,
                           Gradients const& gradients, adjoint_options<State> const& options) {
  recurrence_shape const shape = checked_extents(op);
  check("output_gradient", output_gradient, output_shape_of(op));
  index const sequences = checked_sequences(shape, options);
  check_parameters_of_sequences(op, sequences, options);
  check_gradients(op, gradients, sequences);
  check_state("initial", options.initial, sequences, shape);
  check_positions("initial", op, options.initial);
  check_state("final_gradient", options.final_gradient, sequences, shape);
  check_state("initial_gradient", options.initial_gradient, sequences, shape);
  return sequences;
}

}  // namespace wane::cuda::impl
