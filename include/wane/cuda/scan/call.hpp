// A run by the scan: its workspace, its arguments and its kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/call/check_run.hpp"
#include "wane/cuda/call/workspace.hpp"
#include "wane/cuda/machine/kernel.hpp"
#include "wane/cuda/scan/scan.hpp"

namespace wane::cuda::impl {

template <class Config, class Op, class State>
std::size_t scan_workspace_bytes(Op const& op, run_options<State> const& options) {
  scan_plan const plan = plan_scan<Config>(op, sequences_of(checked_extents(op), options.packed),
                                           options.packed.present());
  return scan_workspace<accumulate_type<Op>>(plan, nullptr).bytes;
}

// Throws wane::error, before anything is written, when a shape does not fit.
template <class Config, class Op, class Out, class State>
scan_arguments<Op, Out, State> scan_call(Op const& op, sequence_view<Out> output,
                                         workspace const& memory,
                                         run_options<State> const& options) {
  auto const common = checked_call(op, output, options);
  scan_plan const plan = plan_scan<Config>(op, common.states, options.packed.present());
  scan_workspace<accumulate_type<Op>> const work(plan, memory.data);
  check_workspace(memory, work.bytes, "workspace_bytes");
  return {
      common, nullptr, plan,
      shared_layout::of<Config, accumulate_type<Op>>(
          plan, staged_bytes<Config>(op), Config::threads * Config::tokens * sizeof(Out), false),
      work};
}

// Scan kernel: workers take tiles.
template <bool Packed>
struct scan_kernel : configured_kernel {
  template <class Config, class Arguments>
  static constexpr int resident = 2;
  template <class Config, class Arguments>
  static std::size_t shared_bytes(Arguments const& a) {
    return a.layout.bytes;
  }
  template <class Config, machine M, class Op, class Out, class State>
  WANE_HOST_DEVICE static void run(M& machine, scan_arguments<Op, Out, State> const& a, index) {
    scan<Config, Packed, M, Op, Out, State>(machine, a)();
  }
};

// body(std::true_type{}) where sequences are packed, else body(std::false_type{}).
template <class Body>
void where_packed(bool packed, Body const& body) {
  if (packed)
    body(std::true_type{});
  else
    body(std::false_type{});
}

template <class Config, class Queue, class Op, class Out, class State>
void queue_scan(Queue const& queue, Op const& op, sequence_view<Out> const& output,
                workspace const& memory, run_options<State> const& options) {
  auto const arguments = scan_call<Config>(op, output, memory, options);
  where_packed(options.packed.present(), [&](auto packed) {
    queue.template run_workers<scan_kernel<packed()>, Config>(arguments);
  });
}

}  // namespace wane::cuda::impl
