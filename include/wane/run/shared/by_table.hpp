// The passes of any recurrence through the table of runners, for runners that run others.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/checks.hpp"
#include "wane/core/recurrence/diagonal_recurrence.hpp"

namespace wane::impl {

// Defined in wane/run/runners.hpp. Shapes have been checked.
template <diagonal_recurrence Op, class Out, class State>
void run_by_table(Op const& op, sequence_view<Out> const& output,
                  run_options<State> const& options);

// The tokens of one walk into a state, rows x columns, without allocating.
template <diagonal_recurrence Op, class Out, class State>
void step_by_table(Op const& op, walk const& w, sequence_view<Out> const& output,
                   view<State, 2> const& state);

template <diagonal_recurrence Op, class Out, class Gradients, class State>
void adjoint_by_table(Op const& op, sequence_view<Out const> const& output_gradient,
                      Gradients const& gradients, adjoint_options<State> const& options);

// Throws wane::error where gradients or options do not fit the adjoint of this recurrence.
template <diagonal_recurrence Op, class Gradients, class State>
void check_adjoint_by_table(Op const& op, Gradients const& gradients,
                            adjoint_options<State> const& options, index sequences);

}  // namespace wane::impl
