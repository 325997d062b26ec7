// effects: what a piece of sequence does to any state, as effects that compose by `then`.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/checks.hpp"
#include "wane/core/call/run_options.hpp"
#include "wane/core/numbers/threads.hpp"
#include "wane/core/recurrence/effect.hpp"

namespace wane {

// log_effect<V> where the operator gives decays as logs, otherwise effect<V>.
template <class Op>
using segment_effect =
    std::conditional_t<decays_in_logs<token_of<Op>>, log_effect<accumulate_type<Op>>,
                       effect<accumulate_type<Op>>>;

}  // namespace wane

namespace wane::impl {

// The effect of one token on state element (i, j).
template <class Op>
segment_effect<Op> token_effect(Op const& op, place<> at, index i, index j) {
  using V = accumulate_type<Op>;
  auto const x = op.at(at);
  using Token = std::remove_const_t<decltype(x)>;
  V const drive = write_of(x, i, j);
  if constexpr (has_element_log_decay<Token>)
    return {x.log_decay(i, j), drive};
  else if constexpr (has_row_log_decay<Token>)
    return {x.log_decay(i), drive};
  else if constexpr (has_log_decay<Token>)
    return {x.log_decay(), drive};
  else if constexpr (std::is_same_v<decltype(decay_of(x, i, j)), no_decay>)
    return {V(1), drive};
  else
    return {decay_of(x, i, j).factor, drive};
}

}  // namespace wane::impl

namespace wane {

//   effects(op, found);  // found: view<segment_effect<Op>, 4>, [B, H, rows, columns]
//
// Fills found with the effects of all tokens of `op`: apply(found(b, h, i, j), S) is what run makes
// of state element S, and then(first, second) is the effect of two pieces in turn. `seen`, for
// operators that depend on the position, holds the number of tokens before the piece, one for each
// sequence of the batch. Throws wane::error when the shape does not fit.
template <class Op>
void effects(Op const& op, view<segment_effect<Op>, 4> found, index const* seen = nullptr,
             int threads = 0) {
  static_assert(scannable<Op>,
                "wane::effects: a piece of sequence has an effect of its own only where no token "
                "looks at the state; this recurrence has erase terms or a step of its own");
  recurrence_shape const shape = impl::checked_shape(op);
  require(found.data, "found has no data; it must point to the effects to fill");
  impl::check_state("found", state_view<segment_effect<Op>>{found}, shape.batch, shape);
  impl::for_each_task(shape.batch * shape.heads, impl::threads_to_use(threads), [&](index task) {
    impl::walk const w = impl::walk_of(task, shape, run_options<accumulate_type<Op>>{}, seen);
    for (index i = 0; i < shape.rows; ++i)
      for (index j = 0; j < shape.columns; ++j) {
        segment_effect<Op> total;
        for (index k = 0; k < w.count; ++k)
          total = then(total, impl::token_effect(op, w.token(k), i, j));
        found(w.sequence, w.head, i, j) = total;
      }
  });
}

}  // namespace wane
