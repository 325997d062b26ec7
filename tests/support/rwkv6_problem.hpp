// A problem for the law kit: RWKV-6 on random data.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/memory_problems.hpp"
#include "wane/operators/rwkv6.hpp"

namespace wane::testing {

template <class T>
struct rwkv6_problem : memory_data<T> {
  gate_data<T, sequence_view<T const>> gate{this->size, this->bits};
  random_tensor<T> bonus;

  explicit rwkv6_problem(memory_size const& s)
      : memory_data<T>(s), bonus(1, 1, s.heads, s.rows, this->bits) {}
  rwkv6<T> make(index begin, index end) const {
    auto const in = this->in(begin, end);
    return {{.query = in.query,
             .key = in.key,
             .value = in.value,
             .bonus = {bonus.values.data(), this->size.heads, this->size.rows}},
            gate.part(begin, end),
            this->size.options};
  }
  std::array<std::span<T>, 5> inputs() {
    return {this->query.input.values, this->key.input.values, this->value.values, bonus.values,
            gate.values.values};
  }
  std::array<std::span<T>, 5> input_gradients() {
    return {this->query.summed(), this->key.summed(), this->value.gradient, bonus.gradient,
            gate.values.gradient};
  }
  typename rwkv6<T>::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .key = this->key.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end),
            .bonus = {bonus.gradient.data(), this->size.heads, this->size.rows},
            .log_decay = gate.gradient(begin, end)};
  }
};

}  // namespace wane::testing
