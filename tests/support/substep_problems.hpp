// Problems for the law kit: memories whose tokens take several substeps.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/memory_problems.hpp"
#include "wane/operators/delta_product.hpp"
#include "wane/operators/grouped_queries.hpp"

namespace wane::testing {

// `Steps` substeps a token.
template <class T, int Steps, class Gate = no_gate>
struct delta_product_problem : memory_data<T> {
  memory_size steps;  // time counts substeps
  gate_data<T, Gate> gate{this->size, this->bits};
  shared_tensor<T> step_key;
  random_tensor<T> step_value, strength;

  explicit delta_product_problem(memory_size const& s)
      : memory_data<T>(s),
        steps(with_steps(s)),
        step_key(steps, this->bits),
        step_value(s.batch, steps.time, s.heads, s.columns, this->bits),
        strength(s.batch, steps.time, s.heads, 1, this->bits) {
    this->make_short(step_key.input), this->put_between(strength, 0.1, 1.9);
  }
  static memory_size with_steps(memory_size s) {
    s.time *= Steps;
    return s;
  }
  delta_product<T, Gate> make(index begin, index end) const {
    index const b = begin * Steps, e = end * Steps;
    return {{.query = this->query.part(begin, end),
             .key = step_key.part(b, e),
             .value = step_value.view().tokens(b, e),
             .strength = this->by_token(strength, b, e)},
            gate.part(begin, end),
            this->size.options};
  }
  std::vector<std::span<T>> inputs() {
    return with_gate<Gate>(
        {this->query.input.values, step_key.input.values, step_value.values, strength.values},
        gate.values.values);
  }
  std::vector<std::span<T>> input_gradients() {
    return with_gate<Gate>(
        {this->query.summed(), step_key.summed(), step_value.gradient, strength.gradient},
        gate.values.gradient);
  }
  typename delta_product<T, Gate>::gradients gradients(index begin = 0, index end = -1) {
    index const b = begin * Steps, e = end < 0 ? end : end * Steps;
    return {.query = this->query.gradient_view(begin, end),
            .key = step_key.gradient_view(b, e),
            .value = step_value.gradient_view(b, e),
            .strength = this->gradient_by_token(strength, b, e),
            .log_decay = gate.gradient(begin, end)};
  }
};

// Three queries a head of another problem.
template <template <class> class Problem, class T>
struct grouped_problem : Problem<T> {
  static constexpr index each = 3;
  random_tensor<T> queries;

  explicit grouped_problem(memory_size s)
      : Problem<T>(s), queries(s.batch, s.time, s.heads * each, s.rows, this->bits) {
    this->size.options.queries = each;
  }
  auto make(index begin, index end) const {
    return grouped_queries(this->make_with(queries.view().tokens(begin, end), begin, end));
  }
  std::vector<std::span<T>> inputs() {
    auto const all = Problem<T>::inputs();
    std::vector<std::span<T>> mine(all.begin(), all.end());
    mine[0] = queries.values;
    return mine;
  }
  std::vector<std::span<T>> input_gradients() {
    auto const all = Problem<T>::input_gradients();
    std::vector<std::span<T>> mine(all.begin(), all.end());
    mine[0] = queries.gradient;
    return mine;
  }
  auto gradients(index begin = 0, index end = -1) {
    auto to = Problem<T>::gradients(begin, end);
    to.query = queries.gradient_view(begin, end);
    return to;
  }
};

template <class T>
struct gla_of_queries : gla_problem<T> {
  using gla_problem<T>::gla_problem;
  gla<T> make_with(sequence_view<T const> asked, index begin, index end) const {
    auto const in = this->in(begin, end);
    return {{.query = asked, .key = in.key, .value = in.value},
            this->gate.part(begin, end),
            this->size.options};
  }
};
template <class T>
struct delta_of_queries : gated_delta_net_problem<T> {
  using gated_delta_net_problem<T>::gated_delta_net_problem;
  gated_delta_net<T> make_with(sequence_view<T const> asked, index begin, index end) const {
    auto const in = this->in(begin, end);
    return {{.query = asked,
             .key = in.key,
             .value = in.value,
             .strength = this->by_token(this->strength, begin, end)},
            this->gate.part(begin, end),
            this->size.options};
  }
};

}  // namespace wane::testing
