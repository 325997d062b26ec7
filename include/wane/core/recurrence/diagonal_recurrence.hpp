// diagonal_recurrence: the concept of all operators that run, step and adjoint take.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/led_memory.hpp"
#include "wane/core/recurrence/levels.hpp"
#include "wane/core/recurrence/penalised_memory.hpp"
#include "wane/core/recurrence/stepwise_recurrence.hpp"
#include "wane/core/recurrence/substeps.hpp"

namespace wane {

//   static_assert(wane::diagonal_recurrence<my_operator>);
//
// S_t = diag(w_t) S_{t-1} + F(x_t, S_{t-1}). An operator has terms, a step of its own, or a
// penalty, is a pair of operators, takes a token in several substeps, is led by another, or has
// levels.
template <class Op>
concept diagonal_recurrence =
    affine_recurrence<Op> || stepwise_recurrence<Op> || penalised_memory<Op> ||
    paired_recurrence<Op> || has_substeps<Op> || led_memory<Op> || has_levels<Op>;

}  // namespace wane
