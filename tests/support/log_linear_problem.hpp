// A problem for the law kit: log-linear attention on random data.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/memory_problems.hpp"
#include "wane/operators/log_linear.hpp"

namespace wane::testing {

template <class T>
struct log_linear_problem : memory_data<T> {
  static constexpr index levels = 9;  // of up to 256 tokens
  gate_data<T, token_view<T const>> gate{this->size, this->bits};
  random_tensor<T> scales;

  explicit log_linear_problem(memory_size const& s)
      : memory_data<T>(s), scales(s.batch, s.time, s.heads, levels, this->bits) {}
  log_linear<T> make(index begin, index end) const {
    auto const in = this->in(begin, end);
    return {{.query = in.query,
             .key = in.key,
             .value = in.value,
             .level_scale = scales.view().tokens(begin, end)},
            gate.part(begin, end),
            this->size.options};
  }
  std::array<std::span<T>, 5> inputs() {
    return {this->query.input.values, this->key.input.values, this->value.values, scales.values,
            gate.values.values};
  }
  std::array<std::span<T>, 5> input_gradients() {
    return {this->query.summed(), this->key.summed(), this->value.gradient, scales.gradient,
            gate.values.gradient};
  }
  typename log_linear<T>::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .key = this->key.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end),
            .level_scale = scales.gradient_view(begin, end),
            .log_decay = gate.gradient(begin, end)};
  }
};

}  // namespace wane::testing
