// expect_passes_to_survive: run, step, adjoint, effects and check_values of a problem, without
// memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "support/failing_calls.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/check_values.hpp"
#include "wane/run/effects.hpp"
#include "wane/run/run.hpp"
#include "wane/run/runner_name.hpp"
#include "wane/testing/compare.hpp"
#include "wane/testing/problem.hpp"

namespace support {

// The public calls over all tokens of a problem, whose data every call finds as `pristine` has
// them.
template <wane::testing::problem P>
class failing_passes {
 public:
  using Op = wane::testing::operator_of<P>;
  using T = wane::accumulate_type<Op>;
  using Y = wane::output_type<Op>;
  using index = wane::index;
  using outcome = wane::testing::result<T, Y>;

  explicit failing_passes(P const& problem)
      : pristine_(problem), problem_(problem), initial_(op()), before_(op()), to_(blank()) {
    std::mt19937_64 bits(3);
    wane::testing::impl::begin_states(problem, initial_, bits);
    before_ = initial_;
  }

  std::string_view runner() { return wane::runner_name(op(), to_.view(), options(1)); }
  std::string_view runner_of_adjoint() {
    wane::adjoint_options<T> const none;
    return wane::runner_name(op(), to_.view(), problem_.gradients(), none);
  }

  fallible_call run(int threads, bool over_time = false) {
    return {[&] { to_ = blank(), half_ = before_; },
            [&, threads, over_time] {
              auto o = options(threads);
              o.threads_over_time = over_time;
              wane::run(op(), to_.view(), o);
            },
            [&] { return bytes_of(to_.output) + bytes_of(to_.state) + bytes_of(half_); },
            [&] {
              return bytes_of(initial_) + support::bytes_of(to_.state.positions()) +
                     support::bytes_of(half_.positions());
            }};
  }
  // The state is advanced in place.
  fallible_call step(int threads) {
    return {[&] { to_ = blank(), to_.state = before_; },
            [&, threads] {
              wane::step(op(), to_.view(), wane::state_view<T>(to_.state), {.threads = threads});
            },
            [&] { return bytes_of(to_.output) + bytes_of(to_.state); },
            [&] { return support::bytes_of(to_.state.positions()); }};
  }
  fallible_call adjoint(int threads) {
    std::mt19937_64 bits(4);
    output_gradient_ = wane::testing::random_numbers<Y>(to_.output.size(), bits);
    final_gradient_ = before_;
    return {[&] { problem_ = pristine_, to_ = blank(); },
            [&, threads] {
              wane::sequence_view<Y> dy = to_.view();
              dy.data = output_gradient_.data();
              wane::adjoint(op(), dy, problem_.gradients(),
                            {.initial = std::as_const(initial_),
                             .final_gradient = std::as_const(final_gradient_),
                             .initial_gradient = to_.state,
                             .threads = threads});
            },
            [&] {
              std::string all = bytes_of(to_.state);
              for (auto const& gradient : problem_.input_gradients())
                all += support::bytes_of(gradient);
              return all;
            },
            [&] {
              return support::bytes_of(output_gradient_) + bytes_of(initial_) +
                     bytes_of(final_gradient_) + inputs();
            }};
  }
  fallible_call effects(int threads) {
    using effect = wane::segment_effect<Op>;
    wane::recurrence_shape const s = op().shape();
    auto found = std::make_shared<std::vector<effect>>(initial_.values().size());
    return {[=] {
              found->assign(found->size(), {T(-7), T(-7)});
            },
            [=, this] {
              wane::effects(op(), {found->data(), s.batch, s.heads, s.rows, s.columns}, nullptr,
                            threads);
            },
            [=] { return support::bytes_of(*found); }};
  }
  fallible_call check_values() {
    return {[] {}, [&] { wane::check_values(op()); }, [] { return std::string(); }};
  }

  outcome const& outcome_of_call() const { return to_; }

 private:
  Op op() const { return problem_.make(0, problem_.time()); }
  outcome blank() const { return {wane::output_shape_of(op()), wane::recurrent_state<T>(op())}; }
  wane::run_options<T> options(int threads) {
    keep_[0] = {problem_.time() / 2, half_};
    return {
        .initial = std::as_const(initial_), .final = to_.state, .keep = keep_, .threads = threads};
  }
  static std::string bytes_of(wane::recurrent_state<T> const& s) {
    return support::bytes_of(s.values()) + support::bytes_of(s.positions());
  }
  static std::string bytes_of(std::vector<Y> const& y) { return support::bytes_of(y); }
  std::string inputs() {
    std::string all;
    for (auto const& input : problem_.inputs()) all += support::bytes_of(input);
    return all;
  }

  P pristine_, problem_;
  wane::recurrent_state<T> initial_, before_, half_{before_}, final_gradient_{before_};
  wane::kept_state<T> keep_[1];
  std::vector<Y> output_gradient_;
  outcome to_;
};

// The operator is one of the runners with these names; the adjoint has that of the run if none is
// named.
template <wane::testing::problem P>
void expect_passes_to_survive(P const& problem, std::string_view runner,
                              std::string_view of_adjoint = "") {
  failing_passes<P> passes(problem);
  EXPECT_EQ(passes.runner(), runner);
  if constexpr (wane::testing::differentiable_problem<P>) {
    EXPECT_EQ(passes.runner_of_adjoint(), of_adjoint.empty() ? runner : of_adjoint);
  }
  auto const survives = [](std::string const& name, fallible_call const& call) {
    SCOPED_TRACE(name);
    failures const f = expect_to_survive_failures(call);
    return f.requests;
  };
  std::ptrdiff_t requests = 0;
  for (int const threads : {1, 3}) {
    std::string const on = " on " + std::to_string(threads) + " threads";
    requests += survives("run" + on, passes.run(threads));
    requests += survives("step" + on, passes.step(threads));
    if constexpr (wane::testing::differentiable_problem<P>)
      requests += survives("adjoint" + on, passes.adjoint(threads));
    if constexpr (wane::scannable<wane::testing::operator_of<P>>)
      requests += survives("effects" + on, passes.effects(threads));
  }
  survives("check_values", passes.check_values());
  EXPECT_GT(requests, 0);  // otherwise nothing has failed
}

}  // namespace support
