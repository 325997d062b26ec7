// What an operator gives to several threads that call it at the same moment, bit for bit.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "support/at_once.hpp"
#include "support/stack_use.hpp"
#include "support/thread_sanitizer.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/run/effects.hpp"
#include "wane/run/run.hpp"
#include "wane/run/runner_name.hpp"
#include "wane/testing/problem.hpp"

namespace support {

// The bytes of numbers, to be compared bit for bit.
struct bits {
  std::string bytes;

  void add(auto const& numbers) {
    bytes.append(reinterpret_cast<char const*>(numbers.data()),
                 numbers.size() * sizeof(numbers.data()[0]));
  }
  // Not as text, which EXPECT_EQ would print.
  bool operator==(bits const&) const = default;
};

// What run, step, effects and adjoint of one operator give. `op` and `begin` are shared by threads;
// `own` belongs to the caller, and receives the gradients.
template <class P>
bits bits_of(
    wane::testing::operator_of<P> const& op,
    wane::recurrent_state<wane::accumulate_type<wane::testing::operator_of<P>>> const& begin,
    P& own, int threads) {
  using Op = wane::testing::operator_of<P>;
  using T = wane::accumulate_type<Op>;
  using Y = wane::output_type<Op>;
  bits all;
  wane::testing::result<T, Y> ran(wane::output_shape_of(op), begin), stepped = ran;
  wane::run(op, ran.view(),
            wane::run_options<T>{.initial = begin, .final = ran.state, .threads = threads});
  all.add(ran.output), all.add(ran.state.values());
  wane::step(op, stepped.view(), stepped.state, {.threads = threads});
  all.add(stepped.output), all.add(stepped.state.values());
  if constexpr (wane::scannable<Op>) {
    wane::recurrence_shape const s = op.shape();
    std::vector<wane::segment_effect<Op>> found(begin.values().size());
    wane::effects(op, {found.data(), s.batch, s.heads, s.rows, s.columns}, begin.positions().data(),
                  threads);
    std::vector<T> applied;
    for (std::size_t i = 0; i < found.size(); ++i)
      applied.push_back(wane::apply(found[i], begin.values()[i]));
    all.add(applied);
  }
  if constexpr (wane::testing::differentiable_problem<P>) {
    auto const dy = ran.output;  // any numbers
    wane::recurrent_state<T> of_begin = begin;
    wane::recurrence_shape const s = wane::output_shape_of(op);
    wane::adjoint(op, wane::sequence_view<Y const>(dy.data(), s.batch, s.time, s.heads, s.columns),
                  own.gradients(),
                  wane::adjoint_options<T>{.initial = begin,
                                           .final_gradient = begin,
                                           .initial_gradient = of_begin,
                                           .threads = threads});
    all.add(of_begin.values());
    for (auto const& gradient : own.input_gradients()) all.add(gradient);
  }
  return all;
}

// Half of what docs/threads.md promises: frames of other compilers and of wider vectors are larger.
// The most measured is 79 KB (mesa_net, g++ 12 -O1).
inline constexpr std::ptrdiff_t most_stack = 128 << 10;

// Four threads make these calls on one operator, each with 1, 2, 3 or OpenMP's threads, before
// anything else has called it; then one thread makes them. All give the same bits.
template <class P>
void expect_same_bits_at_once(P const& shared, std::string_view runner) {
  using Op = wane::testing::operator_of<P>;
  using T = wane::accumulate_type<Op>;
  using Y = wane::output_type<Op>;
  constexpr int callers = 4;
  Op const op = shared.make(0, shared.time());
  wane::recurrent_state<T> begin(op);
  std::mt19937_64 random(3);
  wane::testing::impl::begin_states(shared, begin, random);
  std::vector<P> own(callers + 1, shared);
  std::vector<bits> found(callers);
  auto const at = [](int i) { return static_cast<std::size_t>(i); };
  at_once(callers, [&](int i) { found[at(i)] = bits_of<P>(op, begin, own[at(i)], (i + 1) % 4); });
  bits alone;
  [[maybe_unused]] auto const bytes =
      stack_use([&] { alone = bits_of<P>(op, begin, own[callers], 1); });
#if !defined(WANE_ADDRESS_SANITIZER) && !defined(WANE_TESTS_THREAD_SANITIZER)
  EXPECT_LT(bytes, most_stack) << runner;  // frames are larger under sanitizers
#endif
  for (int i = 0; i < callers; ++i)
    EXPECT_TRUE(found[at(i)] == alone) << runner << ", caller " << i;
  wane::testing::result<T, Y> any(wane::output_shape_of(op), begin);
  EXPECT_EQ(wane::runner_name(op, any.view()), runner);
}

}  // namespace support
