// A problem for the law kit: a VORT layer, retrieval beside attention to the last tokens.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/retrieval_problem.hpp"
#include "wane/operators/undecayed_retrieval.hpp"
#include "wane/operators/vort_layer.hpp"

namespace wane::testing {

// The data of a retrieval, and queries and keys for attention to the same values. Both parts give
// the values a gradient, so there are two of them.
template <class T, normaliser Normaliser = normaliser::decayed>
struct vort_problem : retrieval_problem<T, Normaliser> {
  using op = vort_layer<T, Normaliser>;
  static constexpr index window = 6, keys = 3;
  index seen = 0;  // by the states that runs begin with
  random_tensor<T> near_query, near_key, near_value;

  explicit vort_problem(memory_size const& s)
      : retrieval_problem<T, Normaliser>(s),
        near_query(s.batch, s.time, s.heads, keys, this->bits),
        near_key(s.batch, s.time, s.heads, keys, this->bits),
        near_value(s.batch, s.time, s.heads, s.columns, this->bits) {
    near_value.gradient.assign(near_value.gradient.size(), T(0));
  }
  op make(index begin, index end) const {
    auto const part = [&](auto const& x) { return x.view().tokens(begin, end); };
    return {retrieval_problem<T, Normaliser>::make(begin, end),
            {{.query = part(near_query), .key = part(near_key), .value = part(this->value)},
             {.window = window}}};
  }
  std::array<std::span<T>, 6> inputs() {
    auto const [q, k, v, orders] = retrieval_problem<T, Normaliser>::inputs();
    return {q, k, v, orders, near_query.values, near_key.values};
  }
  std::array<std::span<T>, 6> input_gradients() {
    auto const [q, k, v, orders] = retrieval_problem<T, Normaliser>::input_gradients();
    both.assign(v.begin(), v.end());
    for (std::size_t i = 0; i < both.size(); ++i) both[i] += near_value.gradient[i];
    return {q, k, both, orders, near_query.gradient, near_key.gradient};
  }
  typename op::gradients gradients(index begin = 0, index end = -1) {
    return {retrieval_problem<T, Normaliser>::gradients(begin, end),
            {.query = near_query.gradient_view(begin, end),
             .key = near_key.gradient_view(begin, end),
             .value = near_value.gradient_view(begin, end)}};
  }
  void begin(recurrent_state<T>& states, std::mt19937_64& random) const {
    states.values() = random_numbers<T>(states.values().size(), random);
    std::fill(states.positions().begin(), states.positions().end(), seen);
  }

 private:
  std::vector<T> both;
};

}  // namespace wane::testing
