// penalised_gradients: the concept of objects that receive the gradients of a penalised memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/penalised_memory.hpp"

namespace wane::impl {

//   of_memory(directions, reads, decays)  returns the gradients of op.memory(...). They write the
//                                         gradients of write directions and of erase_reads,
//                                         [B, T, H, K], and of log decays, [B, T, H], to these
//                                         views
//   give_rows(op, place, in_lanes, keys, directions)
//                                         receives K gradients of the key and K of the penalty
//                                         direction, and may overwrite them. Where keys are the
//                                         directions, `keys` holds the sum of both. in_lanes: both
//                                         layouts, layout() and the operator's, allow lanes of rows
//   give_decay(place, g)                  receives the gradient of a log decay, through S and M;
//                                         only for penalties that fade
//   give_lambda(head, g)                  is called once a head
template <class Gradients, class Op>
concept penalised_gradients = penalised_memory<Op> &&
    requires(Gradients const& to, Op const& op, sequence_view<typename Op::accumulate> rows,
             token_view<typename Op::accumulate> decays, place<> at) {
  to.of_memory(rows, rows, decays);
  { to.layout() } -> std::same_as<layout>;
  to.give_rows(op, at, true, rows.data, rows.data);
  to.give_lambda(index{}, double{});
};

}  // namespace wane::impl
