// effects: what a piece of sequence does to any state, as effects that compose by `then`.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/numbers/wider.hpp"
#include "wane/core/recurrence/effect.hpp"
#include "wane/run/runners.hpp"
#include "wane/run/shared/unread_outputs.hpp"

namespace wane {

// log_effect<V> where the operator gives decays as logs, otherwise effect<V>.
template <class Op>
using segment_effect =
    std::conditional_t<decays_in_logs<token_of<Op>>, log_effect<accumulate_type<Op>>,
                       effect<accumulate_type<Op>>>;

}  // namespace wane

namespace wane::impl {

// The decays of some tokens in turn: their product, or the sum of their logs, in double.
template <class Op>
class joined_decay {
 public:
  using V = accumulate_type<Op>;
  static constexpr bool logs = decays_in_logs<token_of<Op>>;

  template <class Token>
  void token(Token const& x, index i, index j) {
    if constexpr (logs) {
      all_ += static_cast<wide>(log_decay_of(x, i, j));
    } else if constexpr (!std::is_same_v<decltype(decay_of(x, i, j)), no_decay>) {
      V const factor = decay_of(x, i, j).factor;
      resets_ = resets_ || factor == V(0);
      all_ = multiply(all_, static_cast<wide>(factor));
    }
  }
  // Only a reset has a decay of 0. A product that underflows is the least normal number.
  V decay() const {
    using std::abs;
    if constexpr (!logs) {
      auto const least = std::numeric_limits<real_type<V>>::min();
      if (resets_) return V(0);
      if (abs(all_) < least) return V(least);
    }
    return static_cast<V>(all_);
  }

 private:
  using wide = wider<V>;
  wide all_ = wide(logs ? 0 : 1);
  bool resets_ = false;
};

}  // namespace wane::impl

namespace wane {

//   effects(op, found);  // found: view<segment_effect<Op>, 4>, [B, H, rows, columns]
//
// Fills found with the effects of all tokens of `op`: apply(found(b, h, i, j), S) is what run makes
// of state element S, and then(first, second) is the effect of two pieces in turn. `seen`, for
// operators that depend on the position, holds the number of tokens before the piece, one for each
// sequence of the batch. It takes a run, and multiplies the decays, or adds their logs, in double.
// A product that is too small is the least normal number, one that is too large is infinite. Throws
// wane::error when the shape does not fit; then, and where memory runs out, `found` is not written.
template <class Op>
void effects(Op const& op, view<segment_effect<Op>, 4> found, index const* seen = nullptr,
             int threads = 0) {
  static_assert(scannable<Op>,
                "wane::effects: a piece of sequence has an effect of its own only where no token "
                "looks at the state; this recurrence has erase terms or a step of its own");
  recurrence_shape const shape = impl::checked_shape(op);
  require(found.data, "found has no data; it must point to the effects to fill");
  impl::check_state("found", state_view<segment_effect<Op>>{found}, shape.batch, shape);
  using V = accumulate_type<Op>;
  // The drive is what a run makes of zeros.
  recurrent_state<V> drives(shape.batch, shape.heads, shape.rows, shape.columns);
  V const zero(0);
  impl::run_by_table(op, impl::unread_outputs(output_shape_of(op)),
                     run_options<V>{.initial = {{&zero, found.extent, {0, 0, 0, 0}}, seen},
                                    .final = {state_view<V>(drives).values, nullptr},
                                    .threads = threads});

  using Token = token_of<Op>;
  index const columns = decays_by_element<Token> ? shape.columns : 1;
  index const rows =
      decays_by_element<Token> || has_row_log_decay<Token> || has_row_plain_decay<Token>
          ? shape.rows
          : 1;
  auto const heads = static_cast<std::size_t>(shape.batch * shape.heads);
  std::vector<impl::joined_decay<Op>> all(heads * static_cast<std::size_t>(rows * columns));
  impl::for_each_task(shape.batch * shape.heads, impl::threads_to_use(threads), [&](index task) {
    impl::walk const w = impl::walk_of(task, shape, run_options<V>{}, seen);
    impl::joined_decay<Op>* const decays = all.data() + task * rows * columns;
    for (index k = 0; k < w.count; ++k) {
      auto const x = op.at(w.token(k));
      for (index i = 0; i < rows; ++i)
        for (index j = 0; j < columns; ++j) decays[i * columns + j].token(x, i, j);
    }
    for (index i = 0; i < shape.rows; ++i)
      for (index j = 0; j < shape.columns; ++j) {
        index const of = (rows > 1 ? i : 0) * columns + (columns > 1 ? j : 0);
        found(w.sequence, w.head, i, j) = {decays[of].decay(),
                                           state_view<V>(drives).values(w.sequence, w.head, i, j)};
      }
  });
}

}  // namespace wane
