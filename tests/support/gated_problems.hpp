// Problems for the law kit: the memories whose gates decide more than decays.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/memory_problems.hpp"
#include "wane/operators/hgrn2.hpp"
#include "wane/operators/lightning_attention.hpp"

namespace wane::testing {

template <class T>
struct hgrn2_problem : memory_data<T> {
  gate_data<T, sequence_view<T const>> gate{this->size, this->bits};
  using memory_data<T>::memory_data;

  hgrn2<T> make(index begin, index end) const {
    auto const in = this->in(begin, end);
    return {{.query = in.query, .value = in.value}, gate.part(begin, end), this->size.options};
  }
  std::array<std::span<T>, 3> inputs() {
    return {this->query.input.values, this->value.values, gate.values.values};
  }
  std::array<std::span<T>, 3> input_gradients() {
    return {this->query.summed(), this->value.gradient, gate.values.gradient};
  }
  typename hgrn2<T>::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end),
            .log_decay = gate.gradient(begin, end)};
  }
};

template <class T>
struct lightning_problem : memory_data<T> {
  using memory_data<T>::memory_data;

  lightning_attention<T> make(index begin, index end) const {
    return {this->in(begin, end), {.layer = 5, .layers = 6}, this->size.options};
  }
  std::array<std::span<T>, 3> inputs() {
    return {this->query.input.values, this->key.input.values, this->value.values};
  }
  std::array<std::span<T>, 3> input_gradients() {
    return {this->query.summed(), this->key.summed(), this->value.gradient};
  }
  typename lightning_attention<T>::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .key = this->key.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end)};
  }
};

}  // namespace wane::testing
