// Problems for the law kit: memories that erase along a key or with a gate of their own.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/memory_problems.hpp"
#include "wane/operators/comba.hpp"
#include "wane/operators/gated_delta_net2.hpp"

namespace wane::testing {

template <class T, erases When = erases::before_decay>
struct comba_problem : memory_data<T> {
  gate_data<T, token_view<T const>> gate{this->size, this->bits};
  shared_tensor<T> removal{this->size, this->bits};
  random_tensor<T> strength;

  explicit comba_problem(memory_size const& s)
      : memory_data<T>(s), strength(s.batch, s.time, s.heads, 1, this->bits) {
    this->make_short(removal.input), this->put_between(strength, 0.1, 0.9);
  }
  comba<T> make(index begin, index end) const {
    auto const in = this->in(begin, end);
    return {{.query = in.query,
             .key = in.key,
             .value = in.value,
             .removal = removal.part(begin, end),
             .strength = this->by_token(strength, begin, end)},
            gate.part(begin, end),
            {.keys = this->size.options, .erases = When}};
  }
  std::array<std::span<T>, 6> inputs() {
    return {this->query.input.values, this->key.input.values, this->value.values,
            removal.input.values,     strength.values,        gate.values.values};
  }
  std::array<std::span<T>, 6> input_gradients() {
    return {this->query.summed(), this->key.summed(), this->value.gradient,
            removal.summed(),     strength.gradient,  gate.values.gradient};
  }
  typename comba<T>::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .key = this->key.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end),
            .removal = removal.gradient_view(begin, end),
            .strength = this->gradient_by_token(strength, begin, end),
            .log_decay = gate.gradient(begin, end)};
  }
};

template <class T, class Gate = sequence_view<T const>>
struct gated_delta_net2_problem : memory_data<T> {
  gate_data<T, Gate> gate{this->size, this->bits};
  shared_tensor<T> erase_gate{this->size, this->bits};
  random_tensor<T> write_gate;

  explicit gated_delta_net2_problem(memory_size const& s)
      : memory_data<T>(s), write_gate(s.batch, s.time, s.heads, s.columns, this->bits) {
    this->put_between(erase_gate.input, 0.1, 0.9), this->put_between(write_gate, 0.1, 0.9);
  }
  gated_delta_net2<T, Gate> make(index begin, index end) const {
    auto const in = this->in(begin, end);
    return {{.query = in.query,
             .key = in.key,
             .value = in.value,
             .erase_gate = erase_gate.part(begin, end),
             .write_gate = write_gate.view().tokens(begin, end)},
            gate.part(begin, end),
            this->size.options};
  }
  std::vector<std::span<T>> inputs() {
    return with_gate<Gate>({this->query.input.values, this->key.input.values, this->value.values,
                            erase_gate.input.values, write_gate.values},
                           gate.values.values);
  }
  std::vector<std::span<T>> input_gradients() {
    return with_gate<Gate>({this->query.summed(), this->key.summed(), this->value.gradient,
                            erase_gate.summed(), write_gate.gradient},
                           gate.values.gradient);
  }
  typename gated_delta_net2<T, Gate>::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .key = this->key.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end),
            .erase_gate = erase_gate.gradient_view(begin, end),
            .write_gate = write_gate.gradient_view(begin, end),
            .log_decay = gate.gradient(begin, end)};
  }
};

}  // namespace wane::testing
