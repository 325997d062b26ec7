// The runner of memories that are led: the leader runs first, and the memory reads its outputs.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "wane/run/in_order/run.hpp"
#include "wane/run/pairs/lent_passes.hpp"
#include "wane/run/pairs/run.hpp"
#include "wane/run/pairs/step.hpp"

namespace wane::impl {

// The options of a call for walk number n alone, on one thread.
template <class Options>
Options of_walk(recurrence_shape const& shape, Options options, index n) {
  state_box box = box_of(shape, options);
  box.first_sequence += n / box.heads, box.first_head += n % box.heads;
  box.sequences = box.heads = 1;
  options.box = box, options.threads = 1;
  return options;
}

// The most numbers of leads that are held at once where every thread has a walk of its own.
inline constexpr index leads_in_cache = 1 << 20;

// Calls run(part, output, options) for the leader and for the memory, and lets them share the
// leads, B T H C numbers. Where these do not fit a cache and every thread has a walk of its own, it
// takes one walk at a time and holds the T C of it.
template <led_memory Op, class Out, class State, class Run>
void run_led(Op const& op, sequence_view<Out> const& output, run_options<State> const& options,
             Run const& run) {
  using T = typename Op::accumulate;
  auto const run_with = [&](sequence_view<T> const& leads, run_options<State> const& own) {
    with_part_options(
        own, [&](auto const& s) { return op.state_of_second(s); },
        [&](auto const& part) { run(op.second(), leads, part); });
    with_part_options(
        own, [&](auto const& s) { return op.state_of_first(s); },
        [&](auto const& part) { run(op.led_by(leads), output, part); });
  };
  recurrence_shape const shape = output_shape_of(op.second());
  index const walks = walks_of(shape, options);
  int const threads = threads_to_use(options.threads);
  index const in_batch = std::min(walks, shape.batch * box_of(shape, options).heads);
  if (walks < threads || in_batch * shape.time * shape.columns <= leads_in_cache)
    return run_with(held_outputs<T>(shape).view(), options);
  for_each_task(walks, threads, [&](index n) {
    recurrence_shape const one{1, shape.time, 1, 1, shape.columns};
    held_outputs<T> leads(one);
    sequence_view<T> view = leads.view();
    view.extent[0] = shape.batch, view.extent[2] = shape.heads;
    view.stride[0] = view.stride[2] = 0;
    run_with(view, of_walk(shape, options, n));
  });
}
template <led_memory Op, class Out, class State>
void run_in_order(Op const& op, sequence_view<Out> const& output,
                  run_options<State> const& options) {
  run_led(op, output, options,
          [](auto const& part, auto const& y, auto const& own) { run_in_order(part, y, own); });
}

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
  // One token at a time. Allocates nothing up to 2048 leads a head.
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
    op.adjoint_by(lent_passes{}, dy, to, options);
  }
};

}  // namespace wane::impl::runners
