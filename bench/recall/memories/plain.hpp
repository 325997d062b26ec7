// Memories that read queries, keys and values alone.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "recall/memories/memory.hpp"

namespace wane::recall {

template <class T>
using ungated_linear_attention = linear_attention<T>;

// Operators that read queries, keys and values alone: softmax attention, and linear attention with
// the features ELU + 1 (Katharopoulos et al. 2020).
template <class T, template <class> class Operator, bool Features>
class plain_memory : public memory<T> {
 public:
  tensor operator()(tape<T>& on, memory_inputs const& in, token_shape const& s) const override {
    tensor const q = Features ? elu_plus_one(on, in.query) : in.query;
    tensor const k = Features ? elu_plus_one(on, in.key) : in.key;
    auto const make = [=](tape<T> const& of) {
      auto const rows = [&](tensor x) { return in_heads(of[x], s.batch, s.heads); };
      return Operator<T>({.query = rows(q), .key = rows(k), .value = rows(in.value)});
    };
    return record_memory(on, s, std::array{q, k, in.value}, make,
                         [s](auto const& op, auto& to) { return keyed_part(op, to, s); });
  }
};

}  // namespace wane::recall
