// What retention must do by the kernels of wane::cuda, on a GPU and on an emulated one.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "support/in_double.hpp"
#include "support/linear_case.hpp"
#include "support/retention_problem.hpp"

namespace support {

// Gradients that go to a device and back.
template <class Io>
struct retention_gradients : retention_problem<Io>::operation::gradients {
  retention_gradients with_tensors(auto& copies) const {
    return {{.value = copies.of(this->value), .alpha = copies.of(this->alpha)}};
  }
};

// `runner` is called as wane::run is, and as wane::adjoint.
template <class Runner>
struct retention_cases {
  Runner runner;

  template <class Io>
  void are_right() const {
    for (auto way : {wane::direction::forward, wane::direction::reverse})
      for (index columns : {1, 33})
        for (index tokens : {1, 64, 300})
          expect_right(retention_problem<Io>{.tokens = tokens, .heads = 2, .columns = columns},
                       way);
  }

  template <class Io>
  void expect_right(retention_problem<Io> const& p, wane::direction way) const {
    using T = wane::widened<Io>;
    retention_problem<double> exact{
        .batch = p.batch, .tokens = p.tokens, .heads = p.heads, .columns = p.columns};
    exact.value = widened(p.value), exact.alpha = widened(p.alpha);
    auto const is = results_of(p, way, runner), should_be = results_of(exact, way, in_order{});
    // In float, weights of either sign near order 1 are rounded.
    double const state = std::max(bound_of<T>(p.tokens), sizeof(T) == 4 ? 1e-6 : 0);
    double const stored = state + (std::is_same_v<Io, wane::bfloat16> ? 0x1p-8 : 0);
    EXPECT_LT(apart(is.output, should_be.output), stored) << p.tokens << ", " << p.columns;
    EXPECT_LT(apart(is.final, should_be.final), state) << p.tokens << ", " << p.columns;
    EXPECT_LT(apart(is.value, should_be.value), stored) << p.tokens << ", " << p.columns;
    EXPECT_LT(apart(is.alpha, should_be.alpha), stored) << p.tokens << ", " << p.columns;
    EXPECT_LT(apart(is.initial, should_be.initial), state) << p.tokens << ", " << p.columns;
  }

 private:
  // Outputs, final states, and gradients of values, orders and initial states.
  struct results {
    std::vector<double> output, final, value, alpha, initial;
  };
  template <class Io>
  static results results_of(retention_problem<Io> const& p, wane::direction way,
                            auto const& run_by) {
    using T = wane::widened<Io>;
    auto const op = p.make(0, p.tokens);
    wane::recurrent_state<T> start(op), last(op);
    random_values random(3);
    for (T& x : start.values()) x = static_cast<T>(static_cast<float>(random.uniform(-1, 1)));
    for (T& x : last.values()) x = not_a_number<T>();
    wane::recurrent_state<T> to_start = last;
    std::vector<Io> y(p.value.size(), Io(not_a_number<T>())), to_value = y, dy = p.value;
    std::vector<Io> to_alpha(p.alpha.size(), Io(not_a_number<T>()));
    std::reverse(dy.begin(), dy.end());
    wane::run_options<T> options;
    options.initial = start, options.final = last, options.direction = way;
    run_by(op, p.values(y), options);
    wane::adjoint_options<T> back;
    back.initial = start, back.final_gradient = start, back.initial_gradient = to_start;
    back.direction = way;
    run_by(op, p.values(dy),
           retention_gradients<Io>{{.value = p.values(to_value), .alpha = p.orders(to_alpha)}},
           back);
    return {widened(y), widened(last.values()), widened(to_value), widened(to_alpha),
            widened(to_start.values())};
  }
};

}  // namespace support
