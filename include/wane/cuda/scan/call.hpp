// What a call of the scan asks for: the arguments of its blocks.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/call/call.hpp"
#include "wane/cuda/scan/scan.hpp"

namespace wane::cuda {

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

// The kernel, as every thread of the machine runs it.
template <class Config, bool Packed, machine M, class Op, class Out, class State>
WANE_HOST_DEVICE void scan_kernel(M& machine, scan_arguments<Op, Out, State> const& arguments) {
  scan<Config, Packed, M, Op, Out, State>(machine, arguments)();
}

}  // namespace wane::cuda
