// A problem for the law kit: local attention to random tokens, after others or from none.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/memory_problems.hpp"
#include "wane/operators/local_attention.hpp"

namespace wane::testing {

// Sequence n begins with a ring that has seen `seen` + 3 n tokens, or 0 where `seen` is 0.
template <class T>
struct local_attention_problem : memory_data<T> {
  using op = local_attention<T>;
  index window, seen;
  bool entropy;

  local_attention_problem(memory_size const& s, index of_window, index before = 0,
                          bool with_entropy = false)
      : memory_data<T>(s), window(of_window), seen(before), entropy(with_entropy) {}

  op make(index begin, index end) const {
    return {this->in(begin, end),
            {.window = window, .groups = this->size.options.groups, .entropy = entropy}};
  }
  void begin(auto& states, std::mt19937_64& random) const {
    using State = std::remove_cvref_t<decltype(states.values()[0])>;
    states.values() = random_numbers<State>(states.values().size(), random);
    for (std::size_t n = 0; seen && n < states.positions().size(); ++n)
      states.positions()[n] = seen + 3 * static_cast<index>(n);
  }
  std::array<std::span<T>, 3> inputs() {
    return {this->query.input.values, this->key.input.values, this->value.values};
  }
  std::array<std::span<T>, 3> input_gradients() {
    return {this->query.summed(), this->key.summed(), this->value.gradient};
  }
  typename op::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .key = this->key.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end)};
  }
};

}  // namespace wane::testing
