// The adjoint of local attention, a recurrence whose state is a ring of the last tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/checks.hpp"
#include "wane/core/recurrence/stepwise_recurrence.hpp"
#include "wane/run/attention/attend_adjoint.hpp"
#include "wane/run/attention/ring.hpp"

namespace wane::impl {

// Attention over a window as a recurrence: row n mod window of its state holds the key and value of
// token n (local_attention).
template <class Op>
concept windowed_attention = stepwise_recurrence<Op> && requires(Op const& op) {
  { op.whole() } -> attention;
};

// Walk i of a call, beside the initial ring.
template <attention Op, class State>
ring_walk ring_walk_of(index i, Op const& whole, adjoint_options<State> const& options) {
  return {walk_of(i, whole.shape(), options, options.initial.positions), whole.window()};
}

// The attention of a call. The keys of a sequence are the tokens in the initial ring and then its
// own, in the order of the run, so that the first queries need no case of their own.
template <attention Op, class State>
class ring_attention : public Op {
 public:
  ring_attention(Op const& whole, adjoint_options<State> const& options)
      : Op(whole), options_(options) {}

  using Op::key;
  using Op::query;
  using Op::value;
  index held(index sequence) const {
    return ring_walk_of(sequence * this->shape().heads, whole(), options_).held();
  }
  auto query(token_block const& b) const { return rows(Op::query(b.batch, b.head), b, 0); }
  auto key(token_block const& b) const { return rows(Op::key(b.batch, b.head), b, 0); }
  auto value(token_block const& b) const {
    return rows(Op::value(b.batch, b.head), b, this->shape().rows);
  }

  // The rows of a tensor, which begin at `column` of the ring, and what receives their gradients.
  // in_final: whether the final ring holds them too.
  template <class Io>
  rows_after_ring<Io, State> rows(view<Io, 2> const& tokens, token_block const& block,
                                  index column) const {
    return {walk_of_block(block), block.queries.begin, column, tokens, options_.initial.values};
  }
  template <class To>
  gradients_after_ring<To, State> gradients(To const& to, token_block const& block, index column,
                                            bool in_final) const {
    ring_walk const w = walk_of_block(block);
    bool const adds = in_final && options_.final_gradient.present();
    return {w,
            block.queries.begin,
            column,
            to,
            options_.initial_gradient.values,
            adds ? std::max<index>(w.count - w.window, 0) : w.count};
  }
  bool gives_ring() const { return options_.initial_gradient.present(); }

 private:
  Op const& whole() const { return *this; }
  ring_walk walk_of_block(token_block const& block) const {
    return ring_walk_of(block.sequence * this->shape().heads + block.head, whole(), options_);
  }

  adjoint_options<State> const& options_;
};

// Its gradients, with the members of whole_gradients.
template <class Op, class Out, class Gradients>
struct ring_gradients {
  Op const& op;
  sequence_view<Out const> const& dy;
  Gradients const& to;

  bool of_keys() const { return to.key.data || to.value.data || op.gives_ring(); }
  auto output(token_block const& b) const { return op.rows(rows_of_head(dy, b), b, 0); }
  auto query(token_block const& b) const { return op.gradients(to.query, b, 0, false); }
  auto key(token_block const& b) const { return op.gradients(to.key, b, 0, true); }
  auto value(token_block const& b) const {
    return op.gradients(to.value, b, op.shape().rows, true);
  }
};

// Writes the gradient by the final ring to the tokens that it holds, and to the initial ring where
// no token has overwritten a row. Other rows of the initial ring get 0.
template <windowed_attention Op, class Gradients, class State>
void give_ring(Op const& op, Gradients const& to, adjoint_options<State> const& options) {
  recurrence_shape const ring = op.shape();
  index const rows = op.whole().shape().rows;
  bool const present = options.final_gradient.present();
  for_each_task(walks_of(ring, options), threads_to_use(options.threads), [&](index i) {
    ring_walk const w = ring_walk_of(i, op.whole(), options);
    for (index r = 0; r < ring.rows; ++r) {
      index const last = w.last_in(r);
      for (index c = 0; c < ring.columns; ++c) {
        auto const at_ring = [&](auto const& state) -> auto& {
          return state.values(w.sequence, w.head, r, c);
        };
        State const g = present ? at_ring(options.final_gradient) : State(0);
        if (options.initial_gradient.present())
          at_ring(options.initial_gradient) = last < 0 ? g : State(0);
        if (last < 0 || !present) continue;
        auto const own = static_cast<accumulate_type<Op>>(g);
        if (c < rows)
          to.key.write(w.token(last), c, own);
        else
          to.value.write(w.token(last), c - rows, own);
      }
    }
  });
}

// The gradient by the final ring is read before the attention writes any, so that the gradient by
// the initial ring may lie in its memory.
template <windowed_attention Op, class Out, class Gradients, class State>
void adjoint_local_attention(Op const& op, sequence_view<Out const> const& dy,
                             Gradients const& gradients, adjoint_options<State> const& options) {
  if (options.final_gradient.present() || options.initial_gradient.present())
    give_ring(op, gradients, options);
  using attention_of = ring_attention<std::remove_cvref_t<decltype(op.whole())>, State>;
  attention_of const of(op.whole(), options);
  adjoint_of_blocks(
      of, ring_gradients<attention_of, Out, Gradients>{of, dy, gradients},
      {.packed = options.packed, .lengths = options.lengths, .threads = options.threads});
}

}  // namespace wane::impl
