// A problem for the law kit: mLSTM on random data, its state that of the pair.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/memory_problems.hpp"
#include "wane/operators/mlstm.hpp"

namespace wane::testing {

template <class T>
struct mlstm_problem : memory_data<T> {
  gate_data<T, token_view<T const>> gate{this->size, this->bits};
  random_tensor<T> input_gate;

  explicit mlstm_problem(memory_size const& s)
      : memory_data<T>(s), input_gate(s.batch, s.time, s.heads, 1, this->bits) {
    // All n . q are negative, so that none is a difference of large numbers.
    this->put_between(this->query.input, -1, -0.1), this->put_between(this->key.input, 0.1, 1);
    for (T& each : input_gate.values) each *= T(3);
  }
  mlstm<T> make(index begin, index end) const {
    auto const in = this->in(begin, end);
    return {{.query = in.query,
             .key = in.key,
             .value = in.value,
             .input_gate = this->by_token(input_gate, begin, end)},
            gate.part(begin, end),
            this->size.options};
  }
  std::array<std::span<T>, 5> inputs() {
    return {this->query.input.values, this->key.input.values, this->value.values, input_gate.values,
            gate.values.values};
  }
  std::array<std::span<T>, 5> input_gradients() {
    return {this->query.summed(), this->key.summed(), this->value.gradient, input_gate.gradient,
            gate.values.gradient};
  }
  typename mlstm<T>::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .key = this->key.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end),
            .input_gate = this->gradient_by_token(input_gate, begin, end),
            .log_decay = gate.gradient(begin, end)};
  }
};

}  // namespace wane::testing
