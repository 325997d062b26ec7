// early_gradients: gradients by the states that a rank begins with, from its first tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "wane/ranks/early_states.hpp"
#include "wane/run/adjoint.hpp"

namespace wane::impl {

// Gradients that nobody wants.
struct no_gradients {
  struct sink {};
  template <class Time>
  WANE_INLINE sink at(place<Time> const&) const {
    return {};
  }
  wane::layout layout() const { return {true, true, true}; }
};

// Those of a bank of poles are tensors with names, which are absent here.
template <class Op>
auto unwanted_gradients() {
  if constexpr (pole_bank<Op>)
    return own_gradients<Op>{};
  else
    return no_gradients{};
}

// Whether gradients may be found early.
template <class Op>
inline constexpr bool may_forget_gradients = may_forget<Op>&& goes_back_by_sequence<Op>;

// The number of first tokens of a rank that decide the gradient before them, or -1. They are a
// padded batch of shorter rows, so there are none of packed sequences and in reverse.
template <class Op, class State>
index first_tokens(Op const& op, adjoint_options<State> const& options, index const* positions) {
  if (options.packed.present() || options.direction == direction::reverse) return -1;
  return tokens_remembered(op, options, positions, recurrence_shape(op.shape()).time / 8,
                           which_tokens::first);
}

// Gradients that a rank finds before it knows those after its tokens, where less than 2^-100 of
// these is left before its first tokens. All heads have the same first tokens, so that the bits do
// not depend on the parts.
template <class Op, class Dy, class State>
class early_gradients : public found_early<Op, State> {
 public:
  // The states that the tokens begin with, and their positions, are in `options`.
  early_gradients(Op const& op, sequence_view<Dy const> const& dy,
                  adjoint_options<State> const& options, shard_link const& to, index sequences)
      : found_early<Op, State>(op, to, sequences), op_(op), dy_(dy), options_(options) {
    recurrence_shape const shape = op.shape();
    index const needed = first_tokens(op, options, options.initial.positions);
    for (index b = 0; needed >= 0 && b < shape.batch; ++b)
      lengths_.push_back(std::min(needed, tokens_of(b, shape.time, {}, options.lengths).end));
  }

  // Finds the gradients of a part, or returns false.
  bool operator()(state_box const& box) {
    if (lengths_.empty()) return false;
    State const zero(0);
    adjoint_options<State> first = options_;
    first.box = box, first.lengths = lengths_;
    first.final_gradient.values = {&zero, this->states.values.extent, {0, 0, 0, 0}};
    first.initial_gradient.values = this->states.values;
    adjoint_by_table(op_, dy_, unwanted_gradients<Op>(), first);
    this->found.push_back(box);
    return true;
  }

 private:
  Op const& op_;
  sequence_view<Dy const> const& dy_;
  adjoint_options<State> options_;
  std::vector<index> lengths_;  // the first tokens of each sequence, where they are enough
};

}  // namespace wane::impl
