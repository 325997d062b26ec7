// diagonal_recurrence: everything that run, step and adjoint take.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/penalised_memory.hpp"

namespace wane {

// S_t = diag(w_t) S_{t-1} + F(x_t, S_{t-1}): an operator that brings terms, one with a step of its
// own, a memory with a penalty, or a pair of these.
template <class Op>
concept diagonal_recurrence = affine_recurrence<Op> || stepwise_recurrence<Op> ||
    penalised_memory<Op> || paired_recurrence<Op>;

}  // namespace wane
