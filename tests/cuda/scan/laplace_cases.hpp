// What laplace must do by the kernels of wane::cuda, on a GPU and on an emulated one.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "support/in_double.hpp"
#include "support/laplace_problem.hpp"
#include "support/linear_case.hpp"
#include "wane/run/adjoint.hpp"

namespace support {

// Gradients that go to a device and back.
template <class Operation>
struct laplace_pole_gradients : Operation::pole_gradients {
  laplace_pole_gradients with_tensors(auto& copies) const {
    return {{.value = copies.of(this->value),
             .log_pole = copies.of(this->log_pole),
             .weight = copies.of(this->weight)}};
  }
};

// `runner` is called as wane::run is, and as wane::adjoint.
template <class Runner>
struct laplace_cases {
  Runner runner;

  template <class Io, wane::spectra::window_shape Window>
  void are_right() const {
    for (auto way : {wane::direction::forward, wane::direction::reverse})
      for (index columns : {1, 33})
        for (index tokens : {1, 300})
          for (bool by_column : {false, true})
            expect_right<Io, Window>(
                {.tokens = tokens, .columns = columns, .by_column = by_column, .masked = true},
                way);
  }

  // Against the runner of the CPU in double.
  template <class Io, wane::spectra::window_shape Window>
  void expect_right(laplace_size const& size, wane::direction way) const {
    laplace_problem<Io, Window> const p(size);
    laplace_problem<double, Window> exact(size);
    exact.x = widened(p.x), exact.sigma = widened(p.sigma), exact.omega = widened(p.omega);
    exact.read_out = widened(p.read_out), exact.widths = widened(p.widths);
    exact.mask = widened(p.mask);
    auto const is = results_of(p, way, runner), should_be = results_of(exact, way, on_cpu{});
    using T = wane::widened<Io>;
    double const state = sizeof(T) == 4 ? 2e-6 : 1e-12;
    double const stored = state + (std::is_same_v<Io, wane::bfloat16> ? 0x1p-8 : 0);
    EXPECT_LT(apart(is.output, should_be.output), stored);
    EXPECT_LT(apart(is.value, should_be.value), stored);
    EXPECT_LT(apart(is.nodes, should_be.nodes), state);
  }

  // A mask of each sequence: outputs, and gradients of values.
  template <class Io>
  void take_a_mask_of_each_sequence() const {
    for (auto way : {wane::direction::forward, wane::direction::reverse})
      expect_right<Io, wane::spectra::window_shape::exponential>(
          {.batch = 3, .tokens = 130, .columns = 9, .masked = true, .masks = 3}, way);
  }

 private:
  // A device gives no gradients of nodes where weights differ between columns or sequences.
  static bool gives_nodes(laplace_size const& of) { return !of.by_column && of.masks == 1; }
  struct on_cpu {
    void operator()(auto const&... arguments) const { wane::run(arguments...); }
  };
  // Outputs, gradients of value, and those of the nodes where the device gives them.
  struct results {
    std::vector<double> output, value, nodes;
  };
  template <class Io, wane::spectra::window_shape Window>
  results results_of(laplace_problem<Io, Window> const& p, wane::direction way,
                     auto const& run_by) const {
    using problem = laplace_problem<Io, Window>;
    using V = typename problem::state_number;
    auto const op = p.make(0, p.tokens);
    std::vector<Io> y(p.x.size(), Io(not_a_number<wane::widened<Io>>())), to_x = y, dy = p.x;
    std::reverse(dy.begin(), dy.end());
    auto const of = [&](auto& x) {
      return wane::sequence_view<std::remove_reference_t<decltype(x[0])>>(
          x.data(), p.batch, p.tokens, p.heads, p.columns);
    };
    run_by(op, of(y), wane::run_options<V>{.direction = way});
    wane::adjoint_options<V> back;
    back.direction = way;
    problem to = p;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(run_by)>, on_cpu>) {
      auto gradients = to.gradients();
      gradients.value = of(to_x);
      wane::adjoint(op, of(dy), gradients, back);
    } else {
      auto const size = static_cast<std::size_t>(p.heads * op.poles());
      std::vector<V> log_pole(size), weight(size);
      laplace_pole_gradients<typename problem::operation> gradients{{.value = of(to_x)}};
      if (gives_nodes(p)) {
        gradients.log_pole = {log_pole.data(), p.heads, op.poles()};
        gradients.weight = {weight.data(), p.heads, op.poles()};
      }
      run_by(op, of(dy), gradients, back);
      if (gives_nodes(p)) gradients.nodes_of(op, to.gradients());
    }
    std::vector<double> nodes;
    if (gives_nodes(p))
      for (auto const* g : {&to.to_sigma, &to.to_omega, &to.to_read_out, &to.to_mask})
        nodes.insert(nodes.end(), g->begin(), g->end());
    return {widened(y), widened(to_x), nodes};
  }
};

}  // namespace support
