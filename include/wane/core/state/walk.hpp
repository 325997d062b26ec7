// walk: the tokens of one sequence and head in the order of a run, forward or in reverse.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/state/packed.hpp"
#include "wane/core/state/state.hpp"

namespace wane {

// forward: time runs from the first token to the last. reverse: from the last to the first.
enum class direction : int { forward = 1, reverse = -1 };

//   run(op, output, run_options<float>{.final = state, .box = {.first_head = 4, .heads = 4}});
//
// The states that a call advances: those of some sequences, heads and columns. All others, their
// outputs and gradients are left as they are, as are those of tokens left out. A negative count
// means all from the first on. Columns are cut at multiples of 16.
struct state_box {
  index first_sequence = 0, sequences = -1;
  index first_head = 0, heads = -1;
  index first_column = 0, columns = -1;
  index last_tokens = -1;  // so many of each sequence at most, the last in the order of the run
};

}  // namespace wane

namespace wane::impl {

// `count` tokens of one head, from time `first` on in steps of `stride`, 1 or -1. `sequence` is the
// index of the state, and `position` the position of the first token.
struct walk {
  index sequence, batch, head;
  index first, count;
  int stride;
  index position;

  place<> token(index k) const { return {batch, first + stride * k, head, position + k, sequence}; }

  // The part of the walk from token k on, at most `most` tokens.
  walk part(index k, index most) const {
    index const left = count - k;
    return {sequence, batch,       head, first + stride * k, left < most ? left : most,
            stride,   position + k};
  }
};

// The number of states of a run: one for each packed sequence, or one for each row of the batch.
inline index sequences_of(recurrence_shape const& shape, packed_sequences const& packed) {
  return packed.present() ? packed.count() : shape.batch;
}

// The box of a call with its counts, which are those of all states where the options have no box.
template <class Options>
state_box box_of(recurrence_shape const& shape, Options const& options) {
  state_box box;
  if constexpr (requires { options.box; }) box = options.box;
  auto const rest = [](index& count, index all, index first) {
    if (count < 0) count = all - first;
  };
  rest(box.sequences, sequences_of(shape, options.packed), box.first_sequence);
  rest(box.heads, shape.heads, box.first_head);
  rest(box.columns, shape.columns, box.first_column);
  return box;
}
// The options for another recurrence over the same sequences and heads: a part of the first.
template <class Options>
Options with_all_columns(Options options) {
  options.box.first_column = 0, options.box.columns = -1;
  return options;
}
// The number of walks of a call.
template <class Options>
index walks_of(recurrence_shape const& shape, Options const& options) {
  state_box const box = box_of(shape, options);
  return box.sequences * box.heads;
}

// What walk_of needs of the options of a run.
struct walk_options {
  packed_sequences packed = {};
  std::span<index const> lengths = {};
  wane::direction direction = wane::direction::forward;
};

// Walk number i of a run, 0 <= i < walks_of(shape, options). `options` has the fields packed,
// lengths and direction of run_options, and may have box. `positions` holds the tokens that each
// sequence has seen; null means 0.
template <class Options>
walk walk_of(index i, recurrence_shape const& shape, Options const& options,
             index const* positions) {
  index sequence, head;
  if constexpr (requires { options.box; }) {
    index const heads =
        options.box.heads < 0 ? shape.heads - options.box.first_head : options.box.heads;
    sequence = options.box.first_sequence + i / heads, head = options.box.first_head + i % heads;
  } else {
    sequence = i / shape.heads, head = i % shape.heads;
  }
  auto const [batch, begin, end] = tokens_of(sequence, shape.time, options.packed, options.lengths);
  index const seen = positions ? positions[sequence] : 0;
  bool const forward = options.direction == direction::forward;
  walk const all{sequence,         batch,   head, forward ? begin : end - 1, end - begin,
                 forward ? 1 : -1, seen + 1};
  if constexpr (requires { options.box; })
    if (index const last = options.box.last_tokens; last >= 0 && last < all.count)
      return all.part(all.count - last, last);
  return all;
}

}  // namespace wane::impl
