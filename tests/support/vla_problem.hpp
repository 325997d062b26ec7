// A problem for the law kit: vla, its penalty directions given or its own keys.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/memory_problems.hpp"
#include "wane/operators/vla.hpp"
#include "wane/run/adjoint.hpp"

namespace wane::testing {

enum class penalises { keys, directions };

template <class T, write_rule Rule, penalises What, class Gate = no_gate>
struct vla_problem : memory_data<T> {
  using op = vla<T, Rule, Gate>;
  static constexpr bool given = What == penalises::directions;
  vla_options options;
  shared_tensor<T> direction{this->size, this->bits};
  gate_data<T, Gate> gate{this->size, this->bits};
  std::vector<T> lambda, lambda_gradient;

  explicit vla_problem(memory_size const& s, vla_options const& o = {.lambda = 0.1})
      : memory_data<T>(s), options(o), lambda_gradient(static_cast<std::size_t>(s.heads)) {
    options.groups = s.options.groups;
    for (index h = 0; h < s.heads; ++h)
      lambda.push_back(static_cast<T>(o.lambda * static_cast<double>(1 + h)));
  }
  op make(index begin, index end) const {
    auto const keyed = this->in(begin, end);
    vla_inputs<T> in{.query = keyed.query,
                     .key = keyed.key,
                     .value = keyed.value,
                     .lambda = {lambda.data(), this->size.heads}};
    if (given) in.direction = direction.part(begin, end);
    return op(in, gate.part(begin, end), options);
  }
  // Factors with diagonals that are clear of zero; of lambda I more than half is left.
  void begin(recurrent_state<T>& state, std::mt19937_64& random) const {
    state.values() = random_numbers<T>(state.values().size(), random);
    index const rows = this->size.rows, columns = make(0, 0).shape().columns;
    for (index i = 0; i < static_cast<index>(state.values().size()); ++i) {
      index const row = i / columns % rows, column = i % columns - this->size.columns;
      T& x = state.values()[static_cast<std::size_t>(i)];
      if (column == row) x = T(1) + std::abs(x);
      if (column >= 0 && column < row) x = T(0);
      if (column == rows) x = row == 0 ? T(-0.6) / (1 + std::abs(x)) : T(0);
    }
  }

  std::vector<std::span<T>> inputs() {
    std::vector<std::span<T>> all{this->query.input.values, this->key.input.values,
                                  this->value.values, lambda};
    if (given) all.push_back(direction.input.values);
    return with_gate<Gate>(all, gate.values.values);
  }
  std::vector<std::span<T>> input_gradients() {
    std::vector<std::span<T>> all{this->query.summed(), this->key.summed(), this->value.gradient,
                                  lambda_gradient};
    if (given) all.push_back(direction.summed());
    return with_gate<Gate>(all, gate.values.gradient);
  }
  typename op::gradients gradients(index begin = 0, index end = -1) {
    typename op::gradients to{.query = this->query.gradient_view(begin, end),
                              .key = this->key.gradient_view(begin, end),
                              .value = this->value.gradient_view(begin, end),
                              .lambda = {lambda_gradient.data(), this->size.heads},
                              .log_decay = gate.gradient(begin, end)};
    if (given) to.direction = direction.gradient_view(begin, end);
    return to;
  }
};

}  // namespace wane::testing
