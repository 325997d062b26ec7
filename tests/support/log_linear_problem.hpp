// Problems for the law kit: log-linear attention, and levels over the memory of another problem.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/memory_problems.hpp"
#include "wane/operators/log_linear.hpp"
#include "wane/operators/log_linear_of.hpp"

namespace wane::testing {

// The level of token j for token t: the one whose interval of the Fenwick tree holds j.
inline index fenwick_level(index t, index j) {
  if (j == t) return 0;
  for (index l = 1, end = t;; ++l)
    if (t >> (l - 1) & 1) {
      index const begin = end - (index(1) << (l - 1));
      if (j >= begin) return l;
      end = begin;
    }
}

template <class T>
struct log_linear_problem : memory_data<T> {
  static constexpr index levels = 9;  // of up to 256 tokens
  gate_data<T, token_view<T const>> gate{this->size, this->bits};
  random_tensor<T> scales;

  explicit log_linear_problem(memory_size const& s)
      : memory_data<T>(s), scales(s.batch, s.time, s.heads, levels, this->bits) {}
  log_linear<T> make(index begin, index end) const {
    auto const in = this->in(begin, end);
    return {{.query = in.query,
             .key = in.key,
             .value = in.value,
             .level_scale = scales.view().tokens(begin, end)},
            gate.part(begin, end),
            this->size.options};
  }
  std::array<std::span<T>, 5> inputs() {
    return {scales.values, this->query.input.values, this->key.input.values, this->value.values,
            gate.values.values};
  }
  std::array<std::span<T>, 5> input_gradients() {
    return {scales.gradient, this->query.summed(), this->key.summed(), this->value.gradient,
            gate.values.gradient};
  }
  typename log_linear<T>::gradients gradients(index begin = 0, index end = -1) {
    return {.query = this->query.gradient_view(begin, end),
            .key = this->key.gradient_view(begin, end),
            .value = this->value.gradient_view(begin, end),
            .level_scale = scales.gradient_view(begin, end),
            .log_decay = gate.gradient(begin, end)};
  }
};

template <template <class> class Problem, class T>
struct log_linear_of_problem : Problem<T> {
  static constexpr index levels = 9;
  random_tensor<T> scales;

  explicit log_linear_of_problem(memory_size const& s)
      : Problem<T>(s), scales(s.batch, s.time, s.heads, levels, this->bits) {}
  auto make(index begin, index end) const {
    return log_linear_of(Problem<T>::make(begin, end), scales.view().tokens(begin, end));
  }
  std::vector<std::span<T>> inputs() { return with_scales(Problem<T>::inputs(), scales.values); }
  std::vector<std::span<T>> input_gradients() {
    return with_scales(Problem<T>::input_gradients(), scales.gradient);
  }
  auto gradients(index begin = 0, index end = -1) {
    using gradients = typename decltype(make(0, 0))::gradients;
    return gradients{.memory = Problem<T>::gradients(begin, end),
                     .level_scale = scales.gradient_view(begin, end)};
  }

 private:
  static std::vector<std::span<T>> with_scales(auto const& others, std::vector<T>& own) {
    std::vector<std::span<T>> all{own};
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }
};

}  // namespace wane::testing
