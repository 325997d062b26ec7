// Blocks of queries or keys, the work of one task of attention.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

#include "wane/run/attention/attend_options.hpp"
#include "wane/run/attention/tiles.hpp"

namespace wane::impl {

// A task holds a block of attention_block queries (or keys) and passes over the keys (or queries),
// attention_passing at a time. Their scores fit the second-level cache, and a long block makes
// loading the passing tokens cheap.
inline constexpr index attention_block = 384, attention_passing = 64;

// The queries, or keys, [begin, end) of a sequence; `queries` and `keys` are the whole sequence's.
struct token_block {
  index batch, head, begin, end;
  index_range queries, keys;
  index sequence;
};

// The rows of queries, keys and values that a block reads. An attention with rows that are not
// those of its tensors, or not in their order, has query(block), key(block) and value(block).
template <class Op>
auto queries_of(Op const& op, token_block const& block) {
  if constexpr (requires { op.query(block); })
    return op.query(block);
  else
    return op.query(block.batch, block.head);
}
template <class Op>
auto keys_of(Op const& op, token_block const& block) {
  if constexpr (requires { op.key(block); })
    return op.key(block);
  else
    return op.key(block.batch, block.head);
}
template <class Op>
auto values_of(Op const& op, token_block const& block) {
  if constexpr (requires { op.value(block); })
    return op.value(block);
  else
    return op.value(block.batch, block.head);
}

// Cuts the queries, or keys, of every sequence and head into blocks of at most `most`. An attention
// may have held(n), a number of keys before the first token of sequence n.
template <class Op>
std::vector<token_block> blocks_of(Op const& op, index_range token_block::*of,
                                   attend_options const& options, index most) {
  std::vector<token_block> blocks;
  recurrence_shape const shape = op.shape();
  index const sequences = options.packed.present() ? options.packed.count() : shape.batch;
  for (index n = 0; n < sequences; ++n)
    for (index h = 0; h < shape.heads; ++h) {
      auto const [batch, first, end] = tokens_of(n, shape.time, options.packed, options.lengths);
      token_block block{batch, h, 0, 0, {first, end}, {first, end + op.keys() - shape.time}, n};
      if constexpr (requires { op.held(n); }) block.keys.begin -= op.held(n);
      if (!op.causal()) {
        auto const keys = keys_lie_apart(options)
                              ? tokens_of(n, op.keys(), options.key_packed, options.key_lengths)
                              : tokens_of(n, op.keys(), options.packed, options.lengths);
        block.keys = {keys.begin, keys.end};
      }
      for (index t = (block.*of).begin; t < (block.*of).end; t += most) {
        block.begin = t, block.end = std::min(t + most, (block.*of).end);
        blocks.push_back(block);
      }
    }
  return blocks;
}

}  // namespace wane::impl
