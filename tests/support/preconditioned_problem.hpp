// A problem for the law kit: preconditioned delta rules on random data.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/memory_problems.hpp"
#include "wane/operators/preconditioned_delta_net.hpp"

namespace wane::testing {

template <class T, class Gate = token_view<T const>>
struct preconditioned_problem : memory_data<T> {
  gate_data<T, Gate> gate{this->size, this->bits};
  gate_data<T, token_view<T const>> curvature_log_decay{this->size, this->bits};
  random_tensor<T> strength, curvature_strength;

  explicit preconditioned_problem(memory_size const& s)
      : memory_data<T>(s),
        strength(s.batch, s.time, s.heads, 1, this->bits),
        curvature_strength(s.batch, s.time, s.heads, 1, this->bits) {
    this->put_between(strength, 0.1, 0.9), this->put_between(curvature_strength, 0.1, 0.9);
  }
  // A, the last K numbers of a head, is a sum of squares.
  void begin(recurrent_state<T>& state, std::mt19937_64& random) const {
    state.values() = random_numbers<T>(state.values().size(), random);
    index const K = this->size.rows, all = K * (this->size.columns + 1);
    for (index n = 0; n < static_cast<index>(state.values().size()); ++n)
      if (n % all >= all - K) {
        T& a = state.values()[static_cast<std::size_t>(n)];
        a = a * a + T(0.1);
      }
  }
  preconditioned_delta_net<T, Gate> make(index begin, index end) const {
    auto const in = this->in(begin, end);
    return {{.query = in.query,
             .key = in.key,
             .value = in.value,
             .strength = this->by_token(strength, begin, end),
             .curvature_strength = this->by_token(curvature_strength, begin, end),
             .curvature_log_decay = curvature_log_decay.part(begin, end)},
            gate.part(begin, end),
            {.keys = this->size.options, .epsilon = 0.01}};
  }
  std::array<std::span<T>, 7> inputs() {
    return {this->query.input.values, this->key.input.values,    this->value.values,
            strength.values,          curvature_strength.values, curvature_log_decay.values.values,
            gate.values.values};
  }
  std::array<std::span<T>, 7> input_gradients() {
    return {this->query.summed(), this->key.summed(),          this->value.gradient,
            strength.gradient,    curvature_strength.gradient, curvature_log_decay.values.gradient,
            gate.values.gradient};
  }
  typename preconditioned_delta_net<T, Gate>::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .key = this->key.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end),
            .strength = this->gradient_by_token(strength, begin, end),
            .curvature_strength = this->gradient_by_token(curvature_strength, begin, end),
            .curvature_log_decay = curvature_log_decay.gradient(begin, end),
            .log_decay = gate.gradient(begin, end)};
  }
};

}  // namespace wane::testing
