// led_memory: the concept of memories whose tokens read the outputs of another recurrence.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/substeps.hpp"

namespace wane {

// first() is the memory, second() the recurrence over the same tokens that leads it. The state is
// that of a pair (wane/core/state/pair.hpp).
//   led_by(leads)   the memory, whose tokens read the outputs of second(), leads [B, T, H, C]; it
//                   may take substeps
//   adjoint_by(passes, output_gradient, gradients, options)
//                   the adjoint. passes.run(op, outputs, options) and passes.adjoint(op, output
//                   gradients, gradients, options) are those of a part, with the options of
//                   part_of; passes.for_each_token(shape, options, body) calls body(place) on
//                   threads, passes.for_each_walk(shape, options, body) body(walk)
template <class Op>
concept led_memory = has_shape<Op> && requires {
  typename Op::accumulate;
} && requires(Op const& op, sequence_view<typename Op::accumulate const> leads) {
  op.first().shape(), op.second().shape();
  requires affine_recurrence<decltype(op.led_by(leads))> ||
      has_substeps<decltype(op.led_by(leads))>;
};

}  // namespace wane
