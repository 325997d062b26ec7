// penalised_gradients: what the adjoint of a penalised memory hands its gradients.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/penalised_memory.hpp"

namespace wane::impl {

// What Op's gradients have: of_memory(directions, reads, decays) gives those of
// op.memory(...), whose gradients by write directions and by erase_reads, [B, T, H, K], and by log
// decays, [B, T, H], go there; give_rows(op, place, in_lanes, keys, directions), K numbers each,
// that may be written over, receives what keys and penalty directions get (all of it by keys where
// directions are they), in lanes where layout() and the operator's say so; give_decay(place, g)
// what log decays get of both; give_lambda(head, g) is called once a head.
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
