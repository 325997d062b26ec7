// A problem for the law kit: retrieval over random features and orders.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/memory_problems.hpp"
#include "support/retention_problem.hpp"
#include "wane/operators/retrieval.hpp"

namespace wane::testing {

// Features are positive, and the floor such that the first denominators are below it. Orders are
// away from the ends, which differences must not pass.
template <class T, normaliser Normaliser, own_token Own = own_token::included,
          class Weights = support::shared_nodes<T>>
struct retrieval_problem : memory_data<T> {
  using op = retrieval<T, Normaliser, T, decltype(std::declval<Weights const&>().table())>;
  Weights weights{8, 1000};
  random_tensor<T> alpha;

  explicit retrieval_problem(memory_size const& s)
      : memory_data<T>(s), alpha(s.batch, s.time, s.heads, 1, this->bits) {
    this->put_between(this->query.input, 0.1, 1), this->put_between(this->key.input, 0.1, 1);
    this->put_between(alpha, 0.11, 0.99);
  }
  op make(index begin, index end) const {
    auto const in = this->in(begin, end);
    return {{.query = in.query,
             .key = in.key,
             .value = in.value,
             .alpha = this->by_token(alpha, begin, end)},
            weights.table(),
            {this->size.options, Own, 2}};
  }
  std::array<std::span<T>, 4> inputs() {
    return {this->query.input.values, this->key.input.values, this->value.values, alpha.values};
  }
  std::array<std::span<T>, 4> input_gradients() {
    return {this->query.summed(), this->key.summed(), this->value.gradient, alpha.gradient};
  }
  typename op::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .key = this->key.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end),
            .alpha = this->gradient_by_token(alpha, begin, end)};
  }
};

}  // namespace wane::testing
