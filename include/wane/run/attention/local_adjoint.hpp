// The adjoint of local attention, a recurrence whose state is a ring of the last tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/checks.hpp"
#include "wane/core/state/walk.hpp"
#include "wane/run/attention/attend_adjoint.hpp"

namespace wane::impl {

// Attention over a window as a recurrence: row n mod window of its state holds the key and value of
// token n (local_attention).
template <class Op>
concept windowed_attention = stepwise_recurrence<Op> && requires(Op const& op) {
  { op.whole() } -> attention;
};

// The adjoint of the final ring: adds its gradient to that of the tokens it holds. Rows that no
// token has overwritten pass theirs on to the initial ring.
template <windowed_attention Op, class Gradients, class State>
void give_ring(Op const& op, Gradients const& to, adjoint_options<State> const& options) {
  recurrence_shape const ring = op.shape();
  index const walks = walks_of(ring, options);
  index const rows = op.whole().shape().rows;
  auto const add = [](auto const& x, place<> at, index c, State more) {
    if (x.data) x.write(at, c, x.read(at, c) + static_cast<accumulate_type<Op>>(more));
  };
  for_each_task(walks, threads_to_use(options.threads), [&](index i) {
    walk const w = walk_of(i, ring, options, nullptr);
    for (index r = 0; r < ring.rows; ++r)
      for (index c = 0; c < ring.columns; ++c) {
        auto const at_ring = [&](auto const& state) -> auto& {
          return state.values(w.sequence, w.head, r, c);
        };
        State const g =
            options.final_gradient.present() ? at_ring(options.final_gradient) : State(0);
        bool const stays = r >= w.count;
        if (options.initial_gradient.present())
          at_ring(options.initial_gradient) = stays ? g : State(0);
        if (stays) continue;
        place<> const last = w.token(r + (w.count - 1 - r) / ring.rows * ring.rows);
        if (c < rows)
          add(to.key, last, c, g);
        else
          add(to.value, last, c - rows, g);
      }
  });
}

// Throws wane::error where sequences do not go forward from their first token on.
template <class State>
void check_ring_sequences(adjoint_options<State> const& options, index sequences) {
  require(options.direction == direction::forward,
          "direction is reverse; the adjoint of local attention is that of forward time");
  for (index n = 0; options.initial.positions && n < sequences; ++n)
    require(options.initial.positions[n] == 0, "initial has seen ", options.initial.positions[n],
            " tokens; the adjoint of local attention begins with none: it must be 0");
}

// Calls attend_adjoint, which takes whole sequences in forward time. So the initial state must have
// seen no tokens.
template <windowed_attention Op, class Out, class Gradients, class State>
void adjoint_local_attention(Op const& op, sequence_view<Out const> const& dy,
                             Gradients const& gradients, adjoint_options<State> const& options) {
  attend_adjoint(
      op.whole(), dy, gradients,
      {.packed = options.packed, .lengths = options.lengths, .threads = options.threads});
  if (options.final_gradient.present() || options.initial_gradient.present())
    give_ring(op, gradients, options);
}

}  // namespace wane::impl
