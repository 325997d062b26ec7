// What memories with queries, keys and values have in common.
// SPDX-License-Identifier: MIT
#pragma once

#include "call.hpp"

namespace wane_python {

// Gradients of queries and keys, [B, T, G, K], each summed over the heads that share it.
template <class T>
struct keyed_gradients_of {
  grouped_gradient<T> query, key;
  wane::sequence_view<T> value;

  explicit keyed_gradients_of(call const& at)
      : query(at, "q", at.inputs.at("v").shape[2]),
        key(at, "k", at.inputs.at("v").shape[2]),
        value(at.gradient<T, 4>("v")) {}

  void add_up() const { query.add_up(), key.add_up(); }
};

// Log decays of heads, [B, T, H]; absent: 0, which nothing forgets.
template <class T>
wane::token_view<T const> log_decay_of_heads(call const& at) {
  static constexpr T none = 0;
  if (at.has("g")) return at.input<T, 3>("g");
  auto const* v = at.inputs.at("v").shape;
  return {&none, {v[0], v[1], v[2]}, {0, 0, 0}};
}

}  // namespace wane_python
