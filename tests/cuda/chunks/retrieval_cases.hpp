// What retrieval must do by the kernels of wane::cuda, on a GPU and on an emulated one.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <array>

#include "support/in_double.hpp"
#include "support/random_values.hpp"
#include "support/retrieval_problem.hpp"
#include "support/tensor.hpp"

namespace support {

// Gradients that go to a device and back.
template <class Op>
struct retrieval_gradients : Op::gradients {
  retrieval_gradients with_tensors(auto& copies) const {
    return {{.query = copies.of(this->query),
             .key = copies.of(this->key),
             .value = copies.of(this->value),
             .alpha = copies.of(this->alpha)}};
  }
};

// `runner` is called as wane::run is, and as wane::adjoint.
template <class Runner>
struct retrieval_cases {
  Runner runner;

  // Eight nodes of one or two features: the rows that every device has room for.
  template <class T, wane::own_token Own>
  void are_right() const {
    for (auto way : {wane::direction::forward, wane::direction::reverse}) {
      expect_right<T, Own>({2, 1, 2, 1, 1}, way);
      expect_right<T, Own>({2, 64, 4, 2, 3, 2}, way);
      expect_right<T, Own>({1, 300, 1, 2, 33}, way);
      expect_right<T, Own>({1, 200, 2, 2, 5}, way, {0, 0, 1, 1, 64, 65, 65, 200, 200});
    }
  }

  template <class T, wane::own_token Own>
  void expect_right(wane::testing::memory_size const& size, wane::direction way,
                    std::vector<index> const& starts = {}) const {
    problem<T, Own> p(size);
    problem<double, Own> exact(size);
    for (std::size_t n = 0; n < p.inputs().size(); ++n)
      std::ranges::copy(p.inputs()[n], exact.inputs()[n].begin());
    auto const is = results_of<T>(p, way, starts, runner);
    auto const should_be = results_of<double>(exact, way, starts, in_order{});
    for (std::size_t n = 0; n < names.size(); ++n)
      EXPECT_LT(apart(is[n], should_be[n]), sizeof(T) == 4 ? 1e-6 : 1e-12)
          << names[n] << ", " << size.time << " tokens, " << size.columns << " columns, "
          << starts.size() << " starts";
  }

 private:
  template <class T, wane::own_token Own>
  using problem = wane::testing::retrieval_problem<T, wane::normaliser::none, Own>;

  static constexpr std::array names{"outputs",
                                    "final states",
                                    "gradients of initial states",
                                    "gradients of queries",
                                    "gradients of keys",
                                    "gradients of values",
                                    "gradients of orders"};
  using results = std::array<std::vector<double>, names.size()>;

  template <class T>
  static results results_of(auto& p, wane::direction way, std::vector<index> const& starts,
                            auto const& run_by) {
    auto const op = p.make(0, p.time());
    auto const s = op.shape();
    index const sequences = starts.empty() ? s.batch : static_cast<index>(starts.size()) - 1;
    wane::recurrent_state<T> start(sequences, s.heads, s.rows, s.columns), last = start;
    random_values random(3);
    for (T& x : start.values()) x = static_cast<T>(static_cast<float>(random.uniform(-1, 1)));
    for (T& x : last.values()) x = not_a_number<T>();
    wane::recurrent_state<T> to_start = last;
    for (auto* each : {&p.query.by_head, &p.key.by_head, &p.value, &p.alpha})
      each->gradient.assign(each->gradient.size(), not_a_number<T>());
    std::vector<T> y(p.value.values.size(), not_a_number<T>());
    std::vector<T> dy(p.value.values.rbegin(), p.value.values.rend());
    auto const outputs = [&](std::vector<T>& of) {
      return wane::sequence_view<T>(of.data(), s.batch, s.time, s.heads, s.columns);
    };
    wane::run_options<T> options;
    options.initial = start, options.final = last;
    options.direction = way, options.packed = {starts};
    run_by(op, outputs(y), options);
    wane::adjoint_options<T> back;
    back.initial = start, back.final_gradient = start, back.initial_gradient = to_start;
    back.direction = way, back.packed = {starts};
    run_by(op, outputs(dy), retrieval_gradients<std::decay_t<decltype(op)>>{p.gradients()}, back);
    auto const [query, key, value, alpha] = p.input_gradients();
    return {widened(y),     widened(last.values()), widened(to_start.values()),
            widened(query), widened(key),           widened(value),
            widened(alpha)};
  }
};

}  // namespace support
