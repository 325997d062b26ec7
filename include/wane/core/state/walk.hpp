// walk: the tokens of one sequence and head in the order of a run, forward or in reverse.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/state/packed.hpp"
#include "wane/core/state/state.hpp"

namespace wane {

// forward: time runs from the first token to the last. reverse: from the last to the first.
enum class direction : int { forward = 1, reverse = -1 };

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

// What walk_of needs of the options of a run.
struct walk_options {
  packed_sequences packed = {};
  std::span<index const> lengths = {};
  wane::direction direction = wane::direction::forward;
};

// Walk number i of a run, 0 <= i < sequences x heads. `options` has the fields packed, lengths and
// direction of run_options. `positions` holds the tokens that each sequence has seen; null means 0.
template <class Options>
walk walk_of(index i, recurrence_shape const& shape, Options const& options,
             index const* positions) {
  index const sequence = i / shape.heads, head = i % shape.heads;
  auto const [batch, begin, end] = tokens_of(sequence, shape.time, options.packed, options.lengths);
  index const seen = positions ? positions[sequence] : 0;
  bool const forward = options.direction == direction::forward;
  return {sequence,         batch,   head, forward ? begin : end - 1, end - begin,
          forward ? 1 : -1, seen + 1};
}

}  // namespace wane::impl
