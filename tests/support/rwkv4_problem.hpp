// A problem for the law kit: RWKV-4 on random data.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/problems.hpp"
#include "wane/operators/rwkv4.hpp"

namespace wane::testing {

template <class T>
struct rwkv4_problem {
  std::mt19937_64 bits{9};
  random_tensor<T> key, value, log_decay, bonus;

  rwkv4_problem(index b, index t, index h, index v)
      : key(b, t, h, v, bits),
        value(b, t, h, v, bits),
        log_decay(random_tensor<T>(1, 1, h, v, bits).as_log_decay()),
        bonus(1, 1, h, v, bits) {}

  index time() const { return key.extent[1]; }
  rwkv4<T> make(index begin, index end) const {
    return rwkv4<T>({.key = key.view().tokens(begin, end),
                     .value = value.view().tokens(begin, end),
                     .log_decay = {log_decay.values.data(), key.extent[2], key.extent[3]},
                     .bonus = {bonus.values.data(), key.extent[2], key.extent[3]}});
  }
  // b is a sum of weights.
  void begin(recurrent_state<T>& states, std::mt19937_64& random) const {
    states.values() = random_numbers<T>(states.values().size(), random);
    auto const values = state_view<T>(states).values;
    for (index n = 0; n < values.extent[0]; ++n)
      for (index h = 0; h < values.extent[1]; ++h)
        for (index j = 0; j < values.extent[3]; ++j)
          values(n, h, 1, j) = T(0.5) + std::abs(values(n, h, 1, j));
  }
  std::array<std::span<T>, 4> inputs() {
    return {key.values, value.values, log_decay.values, bonus.values};
  }
  std::array<std::span<T>, 4> input_gradients() {
    return {key.gradient, value.gradient, log_decay.gradient, bonus.gradient};
  }
  typename rwkv4<T>::gradients gradients(index begin = 0, index end = -1) {
    return {.key = key.gradient_view(begin, end),
            .value = value.gradient_view(begin, end),
            .log_decay = {log_decay.gradient.data(), key.extent[2], key.extent[3]},
            .bonus = {bonus.gradient.data(), key.extent[2], key.extent[3]}};
  }
};

}  // namespace wane::testing
