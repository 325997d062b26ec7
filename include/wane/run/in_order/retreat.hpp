// The adjoint of a recurrence with a step of its own that it also takes back, token by token.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

#include "wane/core/call/adjoint_options.hpp"
#include "wane/run/in_order/advance.hpp"
#include "wane/run/shared/pieces.hpp"

namespace wane::impl {

// Goes back over one walk, in chunks of about as many tokens as there are chunks: the states before
// each chunk are kept, and those within a chunk are found again.
template <class Op, class Out, class Gradients, class State>
void retreat_walk(Op const& op, walk const& w, sequence_view<Out const> const& dy,
                  Gradients const& gradients, adjoint_options<State> const& options) {
  using V = accumulate_type<Op>;
  using access = state_access<V, State>;
  recurrence_shape const shape = op.shape();
  index const size = shape.rows * shape.columns;
  index chunk = 1;
  while (chunk * chunk < w.count) ++chunk;
  index const chunks = (w.count + chunk - 1) / chunk;
  std::vector<V> kept(static_cast<std::size_t>(std::max<index>(chunks, 1) * size)),
      within(static_cast<std::size_t>(chunk * size)), by_state(static_cast<std::size_t>(size));
  auto const nobody = [](auto const&, auto const&) {};
  // The state after `count` tokens from token k on, from one array into another.
  auto const go_on = [&](V const* from, V* to, index k, index count) {
    std::copy_n(from, size, to);
    view<V, 2> const state(to, shape.rows, shape.columns);
    for (index n = 0; n < count; ++n) advance(op, w.token(k + n), state, nobody);
  };

  access{options.initial, {}, w.sequence, w.head}.load_rows(shape.rows, 0, shape.columns,
                                                            kept.data(), shape.columns);
  for (index c = 1; c < chunks; ++c)
    go_on(kept.data() + (c - 1) * size, kept.data() + c * size, (c - 1) * chunk, chunk);

  access const ends{options.final_gradient, options.initial_gradient, w.sequence, w.head};
  ends.load_rows(shape.rows, 0, shape.columns, by_state.data(), shape.columns);
  for (index c = chunks - 1; c >= 0; --c) {
    index const begin = c * chunk, count = std::min(chunk, w.count - begin);
    std::copy_n(kept.data() + c * size, size, within.data());
    for (index k = 1; k < count; ++k)
      go_on(within.data() + (k - 1) * size, within.data() + k * size, begin + k - 1, 1);
    for (index k = count - 1; k >= 0; --k)
      op.retreat(w.token(begin + k),
                 view<V const, 2>(within.data() + k * size, shape.rows, shape.columns), dy,
                 view<V, 2>(by_state.data(), shape.rows, shape.columns), gradients);
  }
  ends.save_rows(shape.rows, 0, shape.columns, by_state.data(), shape.columns);
}

template <class Op, class Out, class Gradients, class State>
void retreat_in_order(Op const& op, sequence_view<Out const> const& dy, Gradients const& gradients,
                      adjoint_options<State> const& options) {
  recurrence_shape const shape = op.shape();
  for_each_task(walks_of(shape, options), threads_to_use(options.threads), [&](index n) {
    retreat_walk(op, walk_of(n, shape, options, options.initial.positions), dy, gradients, options);
  });
}

}  // namespace wane::impl
