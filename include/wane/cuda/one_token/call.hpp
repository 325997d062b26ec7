// A run of one token of each sequence: its workspace, its arguments and its kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/call/check_run.hpp"
#include "wane/cuda/call/workspace.hpp"
#include "wane/cuda/chunks/plan.hpp"
#include "wane/cuda/one_token/step.hpp"

namespace wane::cuda::impl {

inline constexpr std::size_t step_workspace_bytes = sizeof(std::uint64_t);

// Throws wane::error, before anything is written, when a shape does not fit.
template <class Config, class Op, class Out, class State>
step_arguments<Op, Out, State> step_call(Op const& op, sequence_view<Out> output,
                                         workspace const& memory,
                                         run_options<State> const& options) {
  auto const common = checked_call(op, output, options);
  check_rows<Config>(op);
  check_workspace(memory, step_workspace_bytes, "workspace_bytes");
  recurrence_shape const shape = op.shape();
  return {common, shape, pieces_of<Config>(shape.columns),
          step_layout::of<Config, token_of<Op>>(shape.rows),
          static_cast<std::uint64_t*>(memory.data)};
}

// One block for some columns of a head of a sequence.
struct step_kernel : configured_kernel {
  template <class Config, class Arguments>
  static constexpr int resident = Config::blocks;
  template <class Config, class Arguments>
  static std::size_t shared_bytes(Arguments const& a) {
    return a.layout.bytes;
  }
  template <class Config, machine M, class Op, class Out, class State>
  WANE_HOST_DEVICE static void run(M& machine, step_arguments<Op, Out, State> const& a,
                                   index block) {
    step_update<Config, M, Op, Out, State>(machine, a, block)();
  }
};

template <class Config, class Queue, class Op, class Out, class State>
void queue_step(Queue const& queue, Op const& op, sequence_view<Out> const& output,
                workspace const& memory, run_options<State> const& options) {
  auto arguments = step_call<Config>(op, output, memory, options);
  arguments.blocks = arguments.work_items();
  queue.zero(arguments.counters().data, arguments.counters().bytes);
  queue.template run_blocks<step_kernel, Config>(arguments, arguments.blocks);
}

}  // namespace wane::cuda::impl
