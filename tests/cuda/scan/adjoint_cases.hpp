// What the adjoint of wane::cuda must do, on a GPU and on an emulated one: as that of the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include "support/linear_gradients.hpp"
#include "support/problems.hpp"
#include "wane/testing/problem.hpp"

namespace support {

// `adjoint` is called as wane::adjoint is.
template <class Adjoint>
struct adjoint_cases {
  Adjoint adjoint;

  // A run of a problem with random gradients of output and final state.
  struct task {
    wane::direction direction = wane::direction::forward;
    std::vector<index> starts = {};
    bool carries = true;
  };

  template <class P>
  void expect_as_on_the_cpu(P problem, task const& how = {}) const {
    using T = wane::accumulate_type<wane::testing::operator_of<P>>;
    auto const here =
        gradients_by(problem, how, [](auto const&... call) { wane::adjoint(call...); });
    auto const there = gradients_by(problem, how, adjoint);
    wane::testing::distance apart;
    apart.see(there, here);
    // Two ways to round the same sums: HOUSE's agreement of runners.
    EXPECT_LT(apart.relative(), sizeof(wane::real_type<T>) == 4 ? 1e-6 : 1e-12)
        << problem.time() << " tokens, " << how.starts.size() << " starts";
  }

  void are_those_of_the_cpu() const {
    using namespace wane::testing;
    for (index time : {0, 1, 5, 64, 1000})
      for (index columns : {1, 3, 65}) {
        expect_as_on_the_cpu(linear_problem<wane::decay_as::log, float>(1, time, 2, columns));
        expect_as_on_the_cpu(linear_problem<wane::decay_as::factor, float>(2, time, 1, columns),
                             {wane::direction::reverse, {}, false});
        if (time < 1000)
          expect_as_on_the_cpu(bank_problem<float>(2, time, 2, 5, columns),
                               {wane::direction::reverse});
      }
  }
  void are_those_of_the_cpu_for_packed_sequences() const {
    using namespace wane::testing;
    for (auto way : {wane::direction::forward, wane::direction::reverse})
      for (index columns : {1, 40}) {
        task const how{way, {0, 0, 1, 1, 64, 65, 65, 400, 400}};
        expect_as_on_the_cpu(linear_problem<wane::decay_as::log, float>(1, 400, 2, columns), how);
        expect_as_on_the_cpu(bank_problem<float>(1, 400, 2, 3, columns), how);
      }
  }
  template <class T>
  void are_those_of_the_cpu_in() const {
    using namespace wane::testing;
    expect_as_on_the_cpu(linear_problem<wane::decay_as::log, T>(2, 500, 1, 3));
    expect_as_on_the_cpu(linear_problem<wane::decay_as::factor, T>(2, 500, 1, 3));
    expect_as_on_the_cpu(bank_problem<T>(2, 300, 2, 4, 5));
  }
  void are_right_in_every_layout() const {
    for (arrangement how : all_arrangements)
      for (auto way : {wane::direction::forward, wane::direction::reverse}) {
        linear_gradients<wane::decay_as::log, double> run({2, 33, 2, 5, how, how, way});
        run.find_by(adjoint);
        EXPECT_LT(run.error(), 1e-9) << static_cast<int>(how);
        EXPECT_TRUE(run.decay.margins_untouched() && run.drive.margins_untouched());
      }
  }

 private:
  template <class P, class Call>
  static auto gradients_by(P& problem, task const& how, Call const& call) {
    auto const op = problem.make(0, problem.time());
    using T = wane::accumulate_type<decltype(op)>;
    wane::recurrence_shape const s = op.shape();
    index const sequences =
        how.starts.empty() ? s.batch : static_cast<index>(how.starts.size()) - 1;
    std::mt19937_64 bits(1);
    auto const states = static_cast<std::size_t>(sequences * s.heads * s.rows * s.columns);
    auto const initial = wane::testing::random_numbers<T>(states, bits);
    auto const last = wane::testing::random_numbers<T>(states, bits);
    auto dy = wane::testing::random_numbers<T>(
        static_cast<std::size_t>(s.batch * s.time * s.heads * s.columns), bits);
    std::vector<T> found(states, T(not_a_number<wane::real_type<T>>()));
    for (auto gradient : problem.input_gradients())
      for (T& x : gradient) x = T(not_a_number<wane::real_type<T>>());
    auto const state = [&](auto* values) {
      return wane::view<std::remove_pointer_t<decltype(values)>, 4>(values, sequences, s.heads,
                                                                    s.rows, s.columns);
    };
    wane::adjoint_options<T> options;
    options.direction = how.direction;
    options.packed = {how.starts};
    if (how.carries) options.initial = {state(initial.data())};
    options.final_gradient = {state(last.data())};
    options.initial_gradient = {state(found.data())};
    call(op, wane::sequence_view<T>(dy.data(), s.batch, s.time, s.heads, s.columns),
         problem.gradients(), options);
    for (auto gradient : problem.input_gradients())
      found.insert(found.end(), gradient.begin(), gradient.end());
    return found;
  }
};

}  // namespace support
