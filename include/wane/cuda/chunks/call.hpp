// A run in chunks: its workspace, its arguments, and its kernels in their order.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/call/check_run.hpp"
#include "wane/cuda/call/workspace.hpp"
#include "wane/cuda/chunks/links.hpp"
#include "wane/cuda/chunks/walk.hpp"

namespace wane::cuda::impl {

// The workspaces of run and adjoint begin with the counters of the workers.
inline constexpr std::size_t bytes_of_counters = 2 * sizeof(std::uint64_t);

template <class Config, class Op, class State>
std::size_t chunk_workspace_bytes(Op const& op, run_options<State> const& options) {
  recurrence_shape const shape = checked_extents(op);
  index const sequences = sequences_of(shape, options.packed);
  auto const cut = chunk_segments::of<Config>(
      shape, sequences_of_call(shape.time, sequences, options), sequences);
  index const numbers = numbers_of_segments<Config>(cut, shape, sequences);
  return bytes_of_counters + static_cast<std::size_t>(numbers) * sizeof(float);
}

// Throws wane::error, before anything is written, when a shape does not fit.
template <class Config, class Op, class Out, class State>
chunk_arguments<Op, Out, State> chunk_call(Op const& op, sequence_view<Out> output,
                                           workspace const& memory,
                                           run_options<State> const& options) {
  auto const common = checked_call(op, output, options);
  check_rows<Config>(op);
  check_workspace(memory, chunk_workspace_bytes<Config>(op, options), "workspace_bytes");
  recurrence_shape const shape = op.shape();
  auto* const counters = static_cast<std::uint64_t*>(memory.data);
  auto cut = chunk_segments::of<Config>(shape, common.sequences, common.states);
  cut.states = reinterpret_cast<float*>(counters + 2);
  return {common, {shape, pieces_of<Config>(shape.columns), counters, nullptr}, cut};
}

// Chunk kernel: workers take columns of the state through the tokens.
struct chunk_kernel : configured_kernel {
  template <class Config, class Arguments>
  static constexpr int resident = chunk_blocks<Config, token_of<decltype(Arguments::op)>>;
  template <class Config, class Arguments>
  static std::size_t shared_bytes(Arguments const&) {
    return Arguments::template layout<Config>.bytes;
  }
  template <class Config, machine M, class Op, class Out, class State>
  WANE_INLINE static void run(M& machine, chunk_arguments<Op, Out, State> const& a, index) {
    chunk_walk<Config, precision_for<Out>, M, Op, Out, State>(machine, a)();
  }
};

// Calls walk(arguments). Where sequences are cut, calls walk, link and walk, each with the
// arguments of its part.
template <class Arguments, class Walk, class Link>
void in_segments(Arguments const& all, Walk const& walk, Link const& link) {
  if (all.segments.count == 1) return walk(all);
  auto part = all;
  part.segments.now = chunk_segments::part::effects;
  if constexpr (requires { part.final; }) part.final = {}, part.final_positions = nullptr;
  walk(part), link(part);
  part = all;
  part.segments.now = chunk_segments::part::outputs;
  walk(part);
}

// Queues a kernel that walks chunks, over whole sequences or over their segments.
template <class Kernel, class Config, class Queue, class Arguments>
void queue_segments(Queue const& queue, Arguments const& all) {
  in_segments(
      all, [&](auto const& part) { queue.template run_workers<Kernel, Config>(part); },
      [&](auto const& part) {
        queue.template run_blocks<chunk_link_kernel, typename Config::any_rows>(
            part, blocks_of_links(part));
      });
}

template <class Config, class Queue, class Op, class Out, class State>
void queue_chunks(Queue const& queue, Op const& op, sequence_view<Out> const& output,
                  workspace const& memory, run_options<State> const& options) {
  queue_segments<chunk_kernel, Config>(queue, chunk_call<Config>(op, output, memory, options));
}

}  // namespace wane::cuda::impl
