// run on a GPU: the door to the scan, and to chunks and single tokens of memories.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/machine/device.cuh"
#include "wane/cuda/machine/launch_blocks.cuh"
#include "wane/cuda/run_call.hpp"

namespace wane::cuda {

template <class Config, bool Packed, class Op, class Out, class State>
__global__ void __launch_bounds__(Config::threads, 2)
    device_scan(__grid_constant__ scan_arguments<Op, Out, State> const arguments) {
  device_thread<Config::threads> machine;
  scan_kernel<Config, Packed>(machine, arguments);
}

template <class Config, class Op, class Out, class State>
__global__ void __launch_bounds__(Config::threads, chunk_blocks<Config, token_of<Op>>)
    device_chunks(__grid_constant__ chunk_arguments<Op, Out, State> const arguments) {
  device_thread<Config::threads> machine;
  chunk_kernel<Config>(machine, arguments);
}
template <class Config, class Arguments>
__global__ void __launch_bounds__(Config::threads, 1)
    device_links(__grid_constant__ Arguments const arguments) {
  device_thread<Config::threads> machine;
  link_segments<Config>(machine, arguments, static_cast<index>(blockIdx.x));
}
template <class Config, class Arguments>
void launch_chunks(stream on, void (*kernel)(Arguments), Arguments const& arguments) {
  launch_blocks<Config::threads>(on, kernel, arguments, arguments.shape.rows,
                                 arguments.work_items(), arguments.counters, bytes_of_counters,
                                 Arguments::template layout<Config>.bytes);
}
// A walk, or those of segments and the links between them.
template <class Config, class Arguments>
void launch_segments(stream on, void (*walk)(Arguments), Arguments const& all) {
  auto* const link = device_links<any_chunk_config, Arguments>;
  in_segments(
      all, [&](auto const& a) { launch_chunks<Config>(on, walk, a); },
      [&](auto const& a) {
        launch_grid<any_chunk_config::threads>(on, link, a, blocks_of_links(a), 0);
      });
}
template <class Config, class Op, class Out, class State>
void queue_chunks(stream on, Op const& op, sequence_view<Out> const& output,
                  workspace const& memory, run_options<State> const& options) {
  launch_segments<Config>(on, device_chunks<Config, Op, Out, State>,
                          chunk_call<Config>(op, output, memory, options));
}
template <class Config, class Op, class Out, class State>
__global__ void __launch_bounds__(Config::threads, Config::blocks)
    device_step(__grid_constant__ step_arguments<Op, Out, State> const arguments) {
  device_thread<Config::threads> machine;
  step_kernel<Config>(machine, arguments, static_cast<index>(blockIdx.x));
}
template <class Config, class Op, class Out, class State>
void queue_step(stream on, Op const& op, sequence_view<Out> const& output, workspace const& memory,
                run_options<State> const& options) {
  auto arguments = step_call<Config>(op, output, memory, options);
  arguments.blocks = arguments.work_items();
  check(cudaMemsetAsync(arguments.finished, 0, step_workspace_bytes, on.handle), "cudaMemsetAsync");
  launch_grid<Config::threads>(on, device_step<Config, Op, Out, State>, arguments, arguments.blocks,
                               arguments.layout.bytes);
}

// body(64), body(128) or body(256), an integral_constant: the least with room for MostRows or, of
// any_rows, for the rows of `op`. Throws wane::error where these are more than MostRows.
inline constexpr int any_rows = 0;
template <int MostRows, class Op, class Body>
void with_most_rows(Op const& op, Body const& body) {
  static_assert(0 <= MostRows && MostRows <= most_rows_on_device,
                "wane::cuda: memories with keys have at most 256 rows on a GPU");
  index const rows = recurrence_shape(op.shape()).rows;
  require(MostRows == any_rows || rows <= MostRows, "the operator has rows ", rows,
          "; of a memory with keys this call takes at most ", MostRows,
          " (run<256> and adjoint<256>: 256)");
  if constexpr (MostRows != any_rows) {
    body(std::integral_constant < int, MostRows <= 64 ? 64 : MostRows <= 128 ? 128 : 256 > {});
  } else {
    if (rows <= 64)
      body(std::integral_constant<int, 64>{});
    else if (rows <= 128)
      body(std::integral_constant<int, 128>{});
    else
      body(std::integral_constant<int, 256>{});
  }
}

template <class Config, class Op, class State>
__global__ void __launch_bounds__(Config::threads, Config::blocks)
    device_penalties(__grid_constant__ penalty_arguments<Op, State> const arguments) {
  device_thread<Config::threads> machine;
  penalty_kernel<Config>(machine, arguments, static_cast<index>(blockIdx.x));
}
template <class Config, class Op, class State>
__global__ void __launch_bounds__(Config::threads, 1)
    device_penalty_links(__grid_constant__ penalty_arguments<Op, State> const arguments) {
  device_thread<Config::threads> machine;
  penalty_links<Config>(machine, arguments, static_cast<index>(blockIdx.x));
}
template <class Config, class Op, class State>
void queue_penalties(stream on, penalty_arguments<Op, State> const& all) {
  auto* const walk = device_penalties<Config, Op, State>;
  auto* const link = device_penalty_links<any_penalty_config, Op, State>;
  prepare_kernel(walk, all.shape.rows, all.layout.bytes);
  prepare_kernel(link, all.shape.rows, all.layout.bytes);
  in_segments(
      all,
      [&](auto const& a) {
        launch_grid<Config::threads>(on, walk, a, a.work_items(), a.layout.bytes);
      },
      [&](auto const& a) {
        launch_grid<any_penalty_config::threads>(on, link, a, a.lines(), a.layout.bytes);
      });
}

// wane::run on a stream: the tensors of `op`, the output, states, positions and starts lie in
// memory that the device reads, and so does `memory`, of workspace_bytes(op, options). Returns when
// the work is queued; allocates nothing, and may be captured in a graph. The same bits each time.
// Of `options`, threads and threads_over_time mean nothing here. Tensors may not overlap, but
// `final` may be `initial` (unless sequences are packed).
// MostRows, where given, run<64>(...), is the most rows that a memory with keys will have: one
// kernel is compiled then, in place of those for 64, 128 and 256.
// Throws wane::error when a shape does not fit, and wane::cuda::runtime_error when CUDA refuses.
template <int MostRows = any_rows, class Op, class Out, class State = accumulate_type<Op>>
void run(stream on, Op const& op, sequence_view<Out> output, workspace memory,
         run_options<State> const& options = {}) {
  check_run<Op, Out>();
  if constexpr (chunkable<Op> && std::is_trivially_copyable_v<Op>)
    if (runs_in_chunks(op))
      return with_most_rows<MostRows>(op, [&](auto most) {
        if (runs_in_one_step(op, options))
          queue_step<step_config<std::max(most(), 128)>>(on, op, output, memory, options);
        else
          queue_chunks<chunk_config<device_warps, most()>>(on, op, output, memory, options);
      });
  if constexpr (penalised_in_chunks<Op> && std::is_trivially_copyable_v<Op>)
    return with_most_rows<MostRows>(op, [&](auto most) {
      using Config = penalty_config<most()>;
      auto const calls = penalised_call<Config, any_chunk_config>(op, output, memory, options);
      queue_penalties<Config>(on, calls.penalty);
      run<most()>(on, calls.memory, output, calls.lent, calls.options);
    });
  if constexpr (scannable<Op> && std::is_trivially_copyable_v<Op>) {
    using Config = default_scan_config<accumulate_type<Op>>;
    auto const arguments = scan_call<Config>(op, output, memory, options);
    if (options.packed.present())
      launch_tiles<Config::threads>(on, device_scan<Config, true, Op, Out, State>, arguments);
    else
      launch_tiles<Config::threads>(on, device_scan<Config, false, Op, Out, State>, arguments);
  }
}

}  // namespace wane::cuda
