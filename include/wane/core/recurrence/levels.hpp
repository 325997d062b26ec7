// has_levels: memories made of several memories over the same tokens, whose answers are added up.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/recurrence.hpp"

namespace wane {

// Each level has its own rows of the state and its own terms of a token, so a level may erase in
// its own rows, or be reset, alone (log_linear_of). The operator has
//   memory()                   the memory that it is made of, for check_values
//   levels()                   L, of which level 0 is what a token answers by itself
//   level(l)                   1 <= l < L: the affine recurrence of a level
//   state_of_level(state, l)   the rows of the state that are its own
//   own_terms(place)           a token of level 0: its direct() value(j) is added to output j
//   each_number(place, visit)  numbers beside those of memory(), for check_values
//   adjoint_by(passes, output_gradient, gradients, options)
//                              the adjoint; passes are those of
//                              wane/core/recurrence/led_memory.hpp, and gradients.memory are
//                              gradients of memory()
template <class Op>
concept has_levels = has_shape<Op> && requires(Op const& op, index l, place<> at) {
  { op.levels() } -> std::convertible_to<index>;
  { op.level(l) } -> affine_recurrence;
  { op.own_terms(at) } -> has_direct;
};

}  // namespace wane
