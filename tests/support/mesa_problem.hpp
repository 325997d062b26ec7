// A problem for the law kit: MesaNet on random data, from states that keys could have left.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/memory_problems.hpp"
#include "wane/operators/mesa_net.hpp"

namespace wane::testing {

template <class T>
struct mesa_problem : memory_data<T> {
  gate_data<T, token_view<T const>> gate{this->size, this->bits};
  random_tensor<T> strength, lambda;

  explicit mesa_problem(memory_size const& s)
      : memory_data<T>(s),
        strength(s.batch, s.time, s.heads, 1, this->bits),
        lambda(1, 1, s.heads, s.rows, this->bits) {
    this->put_between(strength, 0.1, 0.9), this->put_between(lambda, 0.5, 1.5);
  }
  // S is any, H near the identity; what lies below its diagonal does not count.
  void begin(recurrent_state<T>& state, std::mt19937_64& random) const {
    state.values() = random_numbers<T>(state.values().size(), random);
    index const K = this->size.rows, S = K * this->size.columns, all = S + K * K;
    for (index n = 0; n < static_cast<index>(state.values().size()); ++n)
      if (index const i = n % all - S; i >= 0) {
        T& x = state.values()[static_cast<std::size_t>(n)];
        x = i / K == i % K ? T(1) : x / static_cast<T>(8 * K);
      }
  }
  mesa_net<T> make(index begin, index end) const {
    auto const in = this->in(begin, end);
    return {{.query = in.query,
             .key = in.key,
             .value = in.value,
             .strength = this->by_token(strength, begin, end),
             .lambda = {lambda.values.data(), this->size.heads, this->size.rows}},
            gate.part(begin, end),
            this->size.options};
  }
  std::array<std::span<T>, 6> inputs() {
    return {this->query.input.values, this->key.input.values, this->value.values,
            strength.values,          lambda.values,          gate.values.values};
  }
  std::array<std::span<T>, 6> input_gradients() {
    return {this->query.summed(), this->key.summed(), this->value.gradient,
            strength.gradient,    lambda.gradient,    gate.values.gradient};
  }
  typename mesa_net<T>::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .key = this->key.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end),
            .strength = this->gradient_by_token(strength, begin, end),
            .lambda = {lambda.gradient.data(), this->size.heads, this->size.rows},
            .log_decay = gate.gradient(begin, end)};
  }
};

}  // namespace wane::testing
