// The runner of memories that are led: the leader runs first, and the memory reads its outputs.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/run/in_order/run.hpp"
#include "wane/run/pairs/places.hpp"
#include "wane/run/pairs/run.hpp"
#include "wane/run/pairs/step.hpp"

namespace wane::impl {

// Calls run(part, output, options) for the leader and for the memory. Holds the leads, B T H C
// numbers.
template <led_memory Op, class Out, class State, class Run>
void run_led(Op const& op, sequence_view<Out> const& output, run_options<State> const& options,
             Run const& run) {
  held_outputs<typename Op::accumulate> leads(output_shape_of(op.second()));
  with_part_options(
      options, [&](auto const& s) { return op.state_of_second(s); },
      [&](auto const& own) { run(op.second(), leads.view(), own); });
  with_part_options(
      options, [&](auto const& s) { return op.state_of_first(s); },
      [&](auto const& own) { run(op.led_by(leads.view()), output, own); });
}
template <led_memory Op, class Out, class State>
void run_in_order(Op const& op, sequence_view<Out> const& output,
                  run_options<State> const& options) {
  run_led(op, output, options,
          [](auto const& part, auto const& y, auto const& own) { run_in_order(part, y, own); });
}

// What a led memory composes its adjoint from.
struct led_passes {
  static void run(auto const& op, auto const& output, auto const& options) {
    run_by_table(op, output, options);
  }
  template <class Op, class T>
  static void adjoint(Op const& op, sequence_view<T> const& dy, auto const& to,
                      auto const& options) {
    adjoint_by_table(op, sequence_view<std::remove_const_t<T> const>(dy), to, options);
  }
  static void for_each_token(recurrence_shape const& shape, auto const& options, auto const& body) {
    for_each_place(shape, options, body);
  }
  static void for_each_walk(recurrence_shape const& shape, auto const& options, auto const& body) {
    impl::for_each_walk(shape, options, body);
  }
};

}  // namespace wane::impl

namespace wane::impl::runners {

struct led {
  static constexpr std::string_view name = "led";
  template <class Op, class Out>
  static constexpr bool takes = led_memory<Op>;

  static void run(auto const& op, auto const& output, auto const& options) {
    run_led(op, output, options,
            [](auto const& part, auto const& y, auto const& own) { run_by_table(part, y, own); });
  }
  // One token at a time. Allocates nothing up to 1024 leads a head.
  template <class Op, class Out, class State>
  static void step(Op const& op, walk const& w, sequence_view<Out> const& output,
                   view<State, 2> const& state) {
    token_outputs<typename Op::accumulate> leads(output_shape_of(op.second()).columns);
    for (index k = 0; k < w.count; ++k) {
      walk const token = w.part(k, 1);
      step_by_table(op.second(), token, leads.view(), op.state_of_second(state));
      step_by_table(op.led_by(leads.view()), token, output, op.state_of_first(state));
    }
  }
  static void adjoint(auto const& op, auto const& dy, auto const& to, auto const& options) {
    op.adjoint_by(led_passes{}, dy, to, options);
  }
};

}  // namespace wane::impl::runners
