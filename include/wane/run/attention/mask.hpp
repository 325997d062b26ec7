// The mask of attention: the keys that a query sees, and the queries that see a key.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "wane/run/attention/blocks.hpp"

namespace wane::impl {

// The keys that query t sees, in the sequence of a block.
template <class Op>
index_range keys_seen(Op const& op, index t, token_block const& in) {
  if (!op.causal()) return in.keys;
  index const own = t + op.keys() - op.shape().time, first = in.keys.begin;
  return {op.window() ? std::max(first, own - op.window() + 1) : first, own + 1};
}
// The queries that see key s.
template <class Op>
index_range queries_seeing(Op const& op, index s, token_block const& in) {
  if (!op.causal()) return in.queries;
  index const own = s - (op.keys() - op.shape().time), last = in.queries.end;
  bool const cut = op.window() && op.window() < last - own;
  return {std::max(own, in.queries.begin), cut ? own + op.window() : last};
}

// `range` counted from `begin`, cut to [0, count).
inline index_range within(index_range range, index begin, index count) {
  index const from = std::clamp<index>(range.begin - begin, 0, count);
  return {from, std::clamp<index>(range.end - begin, from, count)};
}

}  // namespace wane::impl
