// Problems for the law kit: the memories whose gates decide more than decays.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/memory_problems.hpp"
#include "wane/operators/hgrn2.hpp"
#include "wane/operators/lightning_attention.hpp"
#include "wane/operators/longhorn.hpp"

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

// The steps are sigmoids, or numbers far from 0.
template <class T>
struct longhorn_problem : memory_data<T> {
  bool sigmoid;
  random_tensor<T> beta, D, bias;

  explicit longhorn_problem(memory_size const& s, bool of_logits = true)
      : memory_data<T>(s),
        sigmoid(of_logits),
        beta(s.batch, s.time, s.heads, s.columns, this->bits),
        D(1, 1, s.heads, s.columns, this->bits),
        bias(1, 1, s.heads, s.columns, this->bits) {
    if (sigmoid) return;
    this->put_between(beta, 1, 2), this->put_between(bias, 0.1, 0.2);
  }
  longhorn<T> make(index begin, index end) const {
    auto const in = this->in(begin, end);
    return {{.query = in.query,
             .key = in.key,
             .value = in.value,
             .beta = beta.view().tokens(begin, end),
             .D = {D.values.data(), this->size.heads, this->size.columns},
             .beta_bias = {bias.values.data(), this->size.heads, this->size.columns}},
            {.sigmoid = sigmoid}};
  }
  std::array<std::span<T>, 6> inputs() {
    return {this->query.input.values,
            this->key.input.values,
            this->value.values,
            beta.values,
            D.values,
            bias.values};
  }
  std::array<std::span<T>, 6> input_gradients() {
    return {this->query.summed(), this->key.summed(), this->value.gradient,
            beta.gradient,        D.gradient,         bias.gradient};
  }
  typename longhorn<T>::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .key = this->key.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end),
            .beta = beta.gradient_view(begin, end),
            .D = {D.gradient.data(), this->size.heads, this->size.columns},
            .beta_bias = {bias.gradient.data(), this->size.heads, this->size.columns}};
  }
};

}  // namespace wane::testing
