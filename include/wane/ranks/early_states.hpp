// early_states: states that a rank finds from its last tokens, before it knows what it begins with.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/ranks/horizon.hpp"
#include "wane/ranks/state_chain.hpp"
#include "wane/run/run.hpp"
#include "wane/run/shared/unread_outputs.hpp"

namespace wane::impl {

// Whether a state may be found from the last tokens alone, and a gradient from the first.
template <class Op>
inline constexpr bool may_forget = scannable<Op> && !leaving_inputs<Op>;

// How many of the last tokens of a rank are run to find its state early: so many that less than
// 2^-100 is left of what was before, from a multiple of 192 tokens on, because runs that begin
// there round as a run of all tokens does.
inline index early_tokens(index needed, index count) {
  return count - (count - needed) / 192 * 192;
}

// States, or gradients by states, that a rank found early, in the boxes of `found`.
template <class Op, class State>
struct found_early {
  linked_states<State> states;
  std::vector<state_box> found;

  found_early(Op const& op, shard_link const& to, index sequences)
      : states(to, sequences, op.shape(), {}) {}

  // Whether the states that were found are those that the pass has given, `is`, to within 1e-6 of
  // the largest number of each head, or of each column where columns are recurrences of their own.
  // They are not where a state was not finite, or so large that 2^-100 of it is seen.
  bool hold(view<State, 4> const& is) const {
    for (state_box const& box : found)
      for (index n = 0; n < box.sequences; ++n)
        for (index h = 0; h < box.heads; ++h)
          if (!holds(is, box, box.first_sequence + n, box.first_head + h)) return false;
    return true;
  }

 private:
  bool holds(view<State, 4> const& is, state_box const& box, index n, index h) const {
    using std::abs;
    double apart = 0, size = 0;
    for (index j = box.first_column; j < box.first_column + box.columns; ++j) {
      if (channelwise<Op>) apart = size = 0;
      for (index i = 0; i < is.extent[2]; ++i) {
        double const off = static_cast<double>(abs(states.values(n, h, i, j) - is(n, h, i, j)));
        if (!(off <= std::numeric_limits<double>::max())) return false;
        apart = std::max(apart, off);
        size = std::max(size, static_cast<double>(abs(is(n, h, i, j))));
      }
      if (channelwise<Op> && apart > 1e-6 * size) return false;
    }
    return apart <= 1e-6 * size;
  }
};

// States that a rank finds before it knows what it begins with: from its last tokens, where less
// than 2^-100 is left of any state before these.
template <class Op, class State>
class early_states : public found_early<Op, State> {
 public:
  // The initial states of `options` have the positions of all sequences.
  early_states(Op const& op, run_options<State> const& options, shard_link const& to,
               index sequences)
      : found_early<Op, State>(op, to, sequences), op_(op), options_(options) {
    options_.final = {}, options_.keep = {};
  }

  // Finds the states of a part, or returns false.
  bool operator()(state_box const& box) {
    recurrence_shape const shape = op_.shape();
    options_.box = box;
    index const most = shape.time / 8;
    index const needed = tokens_remembered(op_, options_, options_.initial.positions, most);
    if (needed < 0) return false;
    run_options<State> last = options_;
    // Sequences of a box may differ in length; the longest decides.
    for (index n = 0; n < walks_of(shape, options_); ++n) {
      index const count = walk_of(n, shape, options_, nullptr).count;
      last.box.last_tokens = std::max(last.box.last_tokens, early_tokens(needed, count));
    }
    // A state of zeros with the positions of the sequences.
    State const zero(0);
    last.initial = {{&zero, this->states.values.extent, {0, 0, 0, 0}}, options_.initial.positions};
    last.final.values = this->states.values;
    run_by_table(op_, unread_outputs(output_shape_of(op_)), last);
    this->found.push_back(box);
    return true;
  }

 private:
  Op const& op_;
  run_options<State> options_;
};

}  // namespace wane::impl
