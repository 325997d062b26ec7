// What a run may be told, and the checks at its door.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "wane/core/recurrence/poles.hpp"
#include "wane/core/state/state.hpp"
#include "wane/core/state/walk.hpp"

namespace wane {

// The state to keep after `tokens` tokens of every sequence, in the order of the run.
template <class State>
struct kept_state {
  index tokens;
  state_view<State> state;
};

// Every field may be left out. State is the precision of the carried state.
template <class State>
struct run_options {
  // The state before the first token; zero when absent. Its positions are the tokens seen so far.
  state_view<State const> initial = {};
  // Receives the state after the last token. May be the same memory as `initial`.
  state_view<State> final = {};
  // States on the way, which another run can begin with (a cache of prefixes); their tokens must
  // not fall. A sequence that ends earlier gives its last state. The run is then that of the pieces
  // between them, one after the other.
  std::span<kept_state<State> const> keep = {};
  // Sequences of different lengths in one row; then the states are [N, H, rows, columns].
  packed_sequences packed = {};
  // Sequences of different lengths in a padded batch, one entry a row: row b holds lengths[b]
  // tokens and then padding, which is not read, and whose outputs are not written. Final states,
  // and time in reverse, are those of the last token that is there.
  std::span<index const> lengths = {};
  // reverse: time runs from the last token to the first.
  wane::direction direction = direction::forward;
  // 0: OpenMP's default; one inside a parallel region. The result is the same bits for any number.
  int threads = 0;
  // Lets threads also share one sequence, cut in time, where a channelwise recurrence in float or
  // double has fewer sequences and heads than threads and tokens enough; elsewhere it changes
  // nothing. The result then depends on the number of threads, within the rounding of a float state
  // (docs/numerics.md) of the result of one.
  bool threads_over_time = false;
};

// The same for step.
struct step_options {
  // As in run_options: of one token each, 1 says that a sequence takes it and 0 that it waits.
  std::span<index const> lengths = {};
};

// Sentences for tokens whose terms contradict each other.
template <class Op>
consteval void check_terms() {
  using Token = token_of<Op>;
  static_assert(
      has_erase<Token> || !has_erase_write<Token>,
      "wane: a token with erase_write has erase_read too: what is erased, and where it was "
      "read");
  constexpr int ways = has_log_decay<Token> + has_row_log_decay<Token> +
                       has_element_log_decay<Token> + has_plain_decay<Token> +
                       has_row_plain_decay<Token> + has_element_plain_decay<Token>;
  static_assert(ways <= 1,
                "wane: a token states its decay in one way: as log_decay or decay, for the head, "
                "by row, or by element");
  if constexpr (requires { requires Op::is_channelwise; })
    static_assert(channelwise<Op> && decays_by_element<Token>,
                  "wane: a token of a channelwise recurrence has value(j) and log_decay(i, j) or "
                  "decay(i, j), and no other term");
  static_assert(
      !has_element_query<Token> || pole_bank<Op>,
      "wane: query(i, j) is for banks of poles (wane/core/recurrence/poles.hpp); elsewhere a query "
      "is that of a row");
  using V = accumulate_type<Op>;
  using D = decltype(decay_of(std::declval<Token>(), index{}, index{}));
  static_assert(std::is_same_v<D, no_decay> || std::is_same_v<D, plain_decay<V>> ||
                    std::is_same_v<D, split_decay<V>>,
                "wane: decays must be of the type the recurrence computes in, that of its values");
}

// The shape of an operator, whose extents are found good, and its tensors present; reads no data.
template <class Op>
recurrence_shape checked_extents(Op const& op) {
  if constexpr (affine_recurrence<Op>) check_terms<Op>();
  recurrence_shape const shape = op.shape();
  index const columns = output_shape_of(op).columns;
  index const extents[] = {shape.batch, shape.time, shape.heads, shape.rows, columns};
  char const* const names[] = {"batch", "time", "heads", "rows", "columns"};
  for (int i = 0; i < 5; ++i)
    require(extents[i] >= (i == 1 ? 0 : 1), "the operator has ", names[i], " ", extents[i],
            "; it must be ", i == 1 ? "0 or more" : "1 or more");
  if constexpr (channelwise<Op>)
    require(shape.rows == 1, "the operator has rows ", shape.rows,
            "; a channelwise recurrence has 1: each column is one of its own");
  if constexpr (requires { op.check_inputs(); }) op.check_inputs();
  return shape;
}

// The same with parameters found good, which the host must be able to read.
template <class Op>
recurrence_shape checked_shape(Op const& op) {
  recurrence_shape const shape = checked_extents(op);
  if constexpr (requires { op.check_parameters(); }) op.check_parameters();
  return shape;
}

// Kept states that do not fit, or whose tokens fall.
template <class State>
void check(std::span<kept_state<State> const> keep, index sequences,
           recurrence_shape const& shape) {
  index before = 0;
  for (kept_state<State> const& kept : keep) {
    require(kept.tokens >= before, "keep has tokens ", kept.tokens, " after ", before,
            "; they must not fall, nor be less than 0");
    require(kept.state.present(), "keep has a state without data; it must point to its values");
    check("a state of keep", kept.state, sequences, shape);
    before = kept.tokens;
  }
}

// How many states a run has: one a sequence of the batch, or one a packed sequence.
inline index sequences_of(recurrence_shape const& shape, packed_sequences const& packed) {
  return packed.present() ? packed.count() : shape.batch;
}

}  // namespace wane
