// adjoint: gradients of a run with respect to inputs, parameters and initial state.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/run_options.hpp"
#include "wane/core/numbers/threads.hpp"
#include "wane/run/elements/adjoint.hpp"
#include "wane/run/in_order/adjoint.hpp"
#include "wane/run/lags/adjoint.hpp"
#include "wane/run/panels/adjoint.hpp"
#include "wane/run/panels/two_way_adjoint.hpp"
#include "wane/run/shared/gradient_of_sums.hpp"

namespace wane {

// Token by token, the columns of every walk in groups.
template <affine_recurrence Op, class Out, class Gradients, class State>
void adjoint_by_walks(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
                      adjoint_options<State> const& options) {
  using Sums = head_gradients<wider<accumulate_type<Op>>>;
  recurrence_shape const shape = op.shape();
  index const sequences = sequences_of(shape, options.packed);
  walk_adjoint<Op, Out, Gradients, State> const runner(op, dy, gradients, options);
  int const threads = threads_to_use(options.threads);
  index const walks = sequences * shape.heads, piece = runner.piece_columns(walks, threads);
  index const pieces = (shape.columns + piece - 1) / piece;
  std::vector<Sums> sums(static_cast<std::size_t>(walks * pieces));
  for_each_task(walks * pieces, threads, [&](index task) {
    walk const w = walk_of(task / pieces, shape, options, options.initial.positions);
    index const first = task % pieces * piece;
    sums[static_cast<std::size_t>(task)] = runner(w, first, std::min(first + piece, shape.columns));
  });
  if constexpr (time_invariant<Op>)
    for (index h = 0; h < shape.heads; ++h) {
      Sums total(shape.rows);
      for (index n = 0; n < sequences; ++n)
        for (index p = 0; p < pieces; ++p)
          total += sums[static_cast<std::size_t>((n * shape.heads + h) * pieces + p)];
      hand_over(op, gradients, {0, 0, h}, total, runner.in_lanes());
    }
}

// Throws wane::error where what an adjoint takes does not fit; returns the number of sequences.
template <class Op, class Out, class State>
index check_shapes(Op const& op, sequence_view<Out> const& output_gradient,
                   adjoint_options<State> const& options) {
  recurrence_shape const shape = checked_shape(op);
  check("output_gradient", output_gradient, output_shape_of(op));
  check(options.packed, options.lengths, shape.batch, shape.time);
  index const sequences = sequences_of(shape, options.packed);
  check("initial", options.initial, sequences, shape);
  check("final_gradient", options.final_gradient, sequences, shape);
  check("initial_gradient", options.initial_gradient, sequences, shape);
  return sequences;
}

// The vector-Jacobian product of run(op, y, ...): from dL/dy (`output_gradient`, [B, T, H,
// columns]) to the gradients with respect to what the operator was made of, which `gradients` (most
// often Op::gradients, whose absent views are skipped) receives, and to the initial state.
// Keeps the states of every 16th to 64th token and computes the others again, or, where nothing
// erases and decays have no gradient, none but T x rows numbers a head. The result is the
// same bits for any number of threads. Gradients must not overlap inputs.
// Throws wane::error, before anything is written, when a shape does not fit.
template <class Op, class Out, class Gradients, class State = accumulate_type<Op>>
void adjoint(Op const& op, sequence_view<Out> output_gradient, Gradients const& gradients,
             adjoint_options<State> const& options = {}) {
  static_assert(affine_recurrence<Op>,
                "wane::adjoint: only an affine recurrence, one that brings "
                "terms, has an adjoint here; this type has a step of its own, or is no recurrence");
  static_assert(!pole_bank<Op>,
                "wane::adjoint: include wane/run/poles/adjoint.hpp for the adjoint of a bank of "
                "poles");
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
  check_gradients(op, gradients, check_shapes(op, output_gradient, options));

  sequence_view<Out const> const dy = output_gradient;
  if constexpr (has_panel_adjoint<Op>) {
    if constexpr (has_lags<Op>)
      if (adjoint_lags(op, dy, gradients, options)) return;
    if constexpr (has_two_way_adjoint<Op>)
      if (recurrence_shape(op.shape()).columns >= least_two_way_columns &&
          adjoint_two_ways(op, dy, gradients, options))
        return;
    adjoint_affine(op, dy, gradients, options);
  } else {
    if constexpr (has_element_adjoint<Op>)
      if (adjoint_elements(op, dy, gradients, options)) return;
    adjoint_by_walks(op, dy, gradients, options);
  }
}

// The same where outputs are normalised: through the sums, which are computed once more and held,
// B T H columns numbers. Where a denominator is below the floor it has no gradient.
template <normalised_recurrence Op, class Out, class Gradients, class State = accumulate_type<Op>>
void adjoint(Op const& op, sequence_view<Out> output_gradient, Gradients const& gradients,
             adjoint_options<State> const& options = {}) {
  recurrence_shape const shape = checked_shape(op);
  check("output_gradient", output_gradient, output_shape_of(op));
  auto const of_sums = gradient_of_sums<Op, Out, State>(op, output_gradient, options);
  adjoint(unnormalised(op),
          sequence_view<accumulate_type<Op> const>(of_sums.data(), shape.batch, shape.time,
                                                   shape.heads, shape.columns),
          gradients, options);
}

}  // namespace wane
