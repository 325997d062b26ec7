// A run of penalised memories: its workspace, its arguments, and its kernels in their order.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/chunks/call.hpp"
#include "wane/cuda/penalty/directions.hpp"

namespace wane::cuda::impl {

// The recurrence of S, which reads its write directions from `directions`, [B, T, H, K].
template <class Op>
auto memory_recurrence(Op const& op, float* directions) {
  recurrence_shape const s = op.shape();
  return op.memory({directions, s.batch, s.time, s.heads, s.rows}, index{0});
}
// S, the first `columns` columns of a state.
template <class T>
state_view<T> memory_columns(state_view<T> state, index columns) {
  state.values.extent[3] = columns;
  return state;
}
template <class Op, class State>
run_options<State> memory_options(Op const& op, run_options<State> options) {
  index const columns = op.output_columns();
  options.initial = memory_columns(options.initial, columns);
  options.final = memory_columns(options.final, columns);
  return options;
}

// Cuts sequences into segments. A penalty that fades is not cut.
template <class Config, class Op>
chunk_segments segments_of_penalty(Op const& op, sequence_list const& all, index sequences) {
  if constexpr (fading_penalty<Op>)
    return {1, all.time};
  else
    return chunk_segments::of<Config>(sequences * recurrence_shape(op.shape()).heads, all);
}

// Offsets of the workspace parts in bytes: the workspace of S, then factors, then directions.
struct penalised_workspace : room {
  std::size_t factors, directions;

  template <class Config, class Op>
  static penalised_workspace of(Op const& op, std::size_t memory, sequence_list const& all,
                                index sequences) {
    recurrence_shape const s = op.shape();
    auto const cut = segments_of_penalty<Config>(op, all, sequences);
    index const factors = cut.count == 1 ? 0 : cut.count * sequences * s.heads;
    penalised_workspace at;
    at.take(1, memory);
    at.factors = at.take(factors * numbers_of_triangle(s.rows));
    at.directions = at.take(s.batch * s.time * s.heads * s.rows);
    return at;
  }
};
template <class Config, class MemoryConfig, class Op, class State>
penalised_workspace penalised_workspace_of(Op const& op, run_options<State> const& options) {
  recurrence_shape const shape = checked_extents(op);
  index const sequences = sequences_of(shape, options.packed);
  return penalised_workspace::of<Config>(
      op,
      chunk_workspace_bytes<MemoryConfig>(memory_recurrence(op, nullptr),
                                          memory_options(op, options)),
      sequences_of_call(shape.time, sequences, options), sequences);
}

// Arguments of the direction kernel, and of the run of S that reads its directions.
template <class Op, class State>
struct penalised_calls {
  penalty_arguments<Op, State> penalty;
  decltype(memory_recurrence(std::declval<Op const&>(), nullptr)) memory;
  run_options<State> options;
  workspace lent;
};

template <class Config, class Op>
void check_penalty(Op const& op) {
  check_rows<Config>(op);
  require(op.refresh().every == 0, "refresh is every ", op.refresh().every,
          " tokens; on a GPU a penalty is not refreshed, it must be 0");
}

// Throws wane::error, before anything is written, when a shape does not fit.
template <class Config, class MemoryConfig, class Op, class Out, class State>
penalised_calls<Op, State> penalised_call(Op const& op, sequence_view<Out> output,
                                          workspace const& memory,
                                          run_options<State> const& options) {
  auto const common = checked_call(op, output, options);
  check_penalty<Config>(op);
  auto const at = penalised_workspace_of<Config, MemoryConfig>(op, options);
  check_workspace(memory, at.bytes, "workspace_bytes");
  recurrence_shape const s = op.shape();
  auto* const bytes = static_cast<std::byte*>(memory.data);
  auto* const directions = reinterpret_cast<float*>(bytes + at.directions);
  auto cut = segments_of_penalty<Config>(op, common.sequences, common.states);
  cut.states = reinterpret_cast<float*>(bytes + at.factors);
  return {{{op,
            {directions, s.batch, s.time, s.heads, s.rows},
            common.initial,
            common.final,
            nullptr,
            common.sequences,
            common.states},
           s,
           op.output_columns(),
           penalty_layout::of<Config>(s.rows, !op.penalises_keys()),
           cut},
          memory_recurrence(op, directions),
          memory_options(op, options),
          {memory.data, at.factors}};
}

// Direction kernel: one block for each head of a sequence, or for each segment of it.
struct penalty_kernel : configured_kernel {
  template <class Config, class Arguments>
  static constexpr int resident = Config::blocks;
  template <class Config, class Arguments>
  static std::size_t shared_bytes(Arguments const& a) {
    return a.layout.bytes;
  }
  template <class Config, machine M, class Op, class State>
  WANE_HOST_DEVICE static void run(M& machine, penalty_arguments<Op, State> const& a, index block) {
    penalty_directions<Config, M, Op, State>(machine, a, block)();
  }
};
// Link kernel: one block for each head of a sequence finds the factors before its segments.
struct penalty_link_kernel : penalty_kernel {
  template <class Config, machine M, class Op, class State>
  WANE_HOST_DEVICE static void run(M& machine, penalty_arguments<Op, State> const& a, index block) {
    penalty_directions<Config, M, Op, State>(machine, a, block).link();
  }
};

template <class Config, class Queue, class Op, class State>
void queue_penalties(Queue const& queue, penalty_arguments<Op, State> const& all) {
  queue.template prepare<penalty_kernel, Config>(all);
  queue.template prepare<penalty_link_kernel, Config>(all);
  in_segments(
      all,
      [&](auto const& part) {
        queue.template run_blocks<penalty_kernel, Config>(part, part.work_items());
      },
      [&](auto const& part) {
        queue.template run_blocks<penalty_link_kernel, Config>(part, part.sequence_heads());
      });
}

// run_memory(S, output, workspace, options) queues the run of S.
template <class Config, class MemoryConfig, class Queue, class Op, class Out, class State,
          class RunMemory>
void queue_penalised(Queue const& queue, Op const& op, sequence_view<Out> const& output,
                     workspace const& memory, run_options<State> const& options,
                     RunMemory const& run_memory) {
  auto const calls = penalised_call<Config, MemoryConfig>(op, output, memory, options);
  queue_penalties<Config>(queue, calls.penalty);
  run_memory(calls.memory, output, calls.lent, calls.options);
}

}  // namespace wane::cuda::impl
