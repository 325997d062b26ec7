// adjoint on a GPU: the door to the gradients of scans and of memories in chunks.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/adjoint_call.hpp"
#include "wane/cuda/run.cuh"

namespace wane::cuda {

template <class Config, bool Packed, class Op, class Out, class Gradients, class State>
__global__ void __launch_bounds__(Config::threads, 2)
    device_adjoint(__grid_constant__ adjoint_arguments<Op, Out, Gradients, State> const arguments) {
  device_thread<Config::threads> machine;
  adjoint_kernel<Config, Packed>(machine, arguments);
}

template <int Threads, bool Packed, class Arguments>
__global__ void device_sums(__grid_constant__ Arguments const arguments) {
  device_thread<Threads> machine;
  sums_kernel<Packed>(machine, arguments, static_cast<index>(blockIdx.x));
}

template <class Config, bool Packed, class Op, class Out, class Gradients, class State>
void launch_adjoint(stream on, scan_adjoint_calls<Op, Out, Gradients, State> const& calls) {
  auto* const run = device_scan<Config, Packed, Op, accumulate_type<Op>, State>;
  auto* const back = device_adjoint<Config, Packed, Op, Out, Gradients, State>;
  prepare_kernel(back, calls.backward.plan.shape.rows, calls.backward.layout.bytes);
  launch_tiles<Config::threads>(on, run, calls.forward);
  launch_tiles<Config::threads>(on, back, calls.backward);
  using arguments = adjoint_arguments<Op, Out, Gradients, State>;
  if constexpr (takes_sums<Gradients, Op>)
    launch_grid<Config::threads>(on, device_sums<Config::threads, Packed, arguments>,
                                 calls.backward, blocks_of_sums<Op>(calls.backward.plan),
                                 shared_bytes_of_sums);
}

// An A100's shared memory has room for two blocks, mostly.
template <class Config, class Op, class Out, class Gradients, class State>
__global__ void __launch_bounds__(Config::threads, 2) device_chunk_adjoint(
    __grid_constant__ chunk_adjoint_arguments<Op, Out, Gradients, State> const arguments) {
  device_thread<Config::threads> machine;
  chunk_adjoint_kernel<Config>(machine, arguments);
}
template <class Config, class Op, class Out, class Gradients, class State>
__global__ void __launch_bounds__(Config::threads, 1) device_chunk_gradients(
    __grid_constant__ chunk_gradient_arguments<Op, Out, Gradients, State> const arguments) {
  device_thread<Config::threads> machine;
  chunk_gradients_kernel<Config>(machine, arguments, static_cast<index>(blockIdx.x));
}
// Before anything is queued, so that nothing is where one of them is refused.
template <class Config, class Op, class Dy, class Gradients, class State>
void prepare_chunk_adjoint(chunk_adjoint_calls<Op, Dy, Gradients, State> const& calls) {
  auto const last = calls.last();
  prepare_kernel(device_chunk_adjoint<Config, Op, Dy, Gradients, State>, last.shape.rows,
                 calls.backward.template layout<Config>.bytes);
  if constexpr (takes_sums<Gradients, Op>)
    prepare_kernel(device_chunk_gradients<Config, Op, Dy, Gradients, State>, last.shape.rows,
                   last.template layout<Config>.bytes);
}
template <class Config, class Op, class Dy, class Gradients, class State>
void queue_chunk_adjoint(stream on, chunk_adjoint_calls<Op, Dy, Gradients, State> const& calls) {
  launch_segments<Config>(on, device_chunks<Config, Op, Dy, State>, calls.forward);
  launch_segments<Config>(on, device_chunk_adjoint<Config, Op, Dy, Gradients, State>,
                          calls.backward);
  auto const last = calls.last();
  if constexpr (takes_sums<Gradients, Op>)
    launch_grid<Config::threads>(on, device_chunk_gradients<Config, Op, Dy, Gradients, State>, last,
                                 calls.chunks, last.template layout<Config>.bytes);
}

template <class Config, class Op, class State>
__global__ void __launch_bounds__(Config::threads, Config::blocks)
    device_answers(__grid_constant__ penalty_answer_arguments<Op, State> const arguments) {
  device_thread<Config::threads> machine;
  penalty_answer_kernel<Config>(machine, arguments, static_cast<index>(blockIdx.x));
}
template <class Arguments>
__global__ void __launch_bounds__(penalised_gradient_threads)
    device_token_gradients(__grid_constant__ Arguments const arguments) {
  device_thread<penalised_gradient_threads> machine;
  penalised_token_gradients(machine, arguments, static_cast<index>(blockIdx.x))();
}
template <class Arguments>
__global__ void __launch_bounds__(penalised_gradient_threads)
    device_line_gradients(__grid_constant__ Arguments const arguments) {
  device_thread<penalised_gradient_threads> machine;
  penalised_line_gradients(machine, arguments, static_cast<index>(blockIdx.x))();
}
template <class Arguments>
__global__ void __launch_bounds__(penalised_gradient_threads)
    device_lambda_gradients(__grid_constant__ Arguments const arguments) {
  device_thread<penalised_gradient_threads> machine;
  give_lambda(machine, arguments, static_cast<index>(blockIdx.x));
}
template <int MostRows, class Op, class Out, class Gradients, class State>
void queue_penalised_adjoint(stream on, Op const& op, sequence_view<Out> const& output_gradient,
                             Gradients const& gradients, workspace const& memory,
                             adjoint_options<State> const& options) {
  using Config = penalty_config<MostRows>;
  using chunk = chunk_config<device_warps, MostRows>;
  auto const calls = penalised_adjoint_call<Config, any_chunk_config>(op, output_gradient,
                                                                      gradients, memory, options);
  auto* const answers = device_answers<Config, Op, State>;
  prepare_kernel(answers, calls.answers.shape.rows, calls.answers.layout.bytes);
  auto const of_memory = chunk_adjoint_call<chunk>(calls.memory, output_gradient, calls.of_memory,
                                                   calls.lent, calls.options);
  prepare_chunk_adjoint<chunk>(of_memory);
  queue_penalties<Config>(on, calls.directions);
  queue_chunk_adjoint<chunk>(on, of_memory);
  launch_grid<Config::threads>(on, answers, calls.answers, calls.answers.work_items(),
                               calls.answers.layout.bytes);
  queue_chunks<chunk>(on, calls.sums, calls.gradients.sums, calls.lent, calls.options_of_sums);
  auto const& last = calls.gradients;
  using arguments = std::remove_cvref_t<decltype(last)>;
  using machine = device_thread<penalised_gradient_threads>;
  constexpr int threads = penalised_gradient_threads;
  launch_grid<threads>(on, device_token_gradients<arguments>, last, last.chunks(), 0);
  launch_grid<threads>(on, device_line_gradients<arguments>, last, last.lines(),
                       penalised_line_gradients<machine, arguments>::shared_bytes);
  launch_grid<threads>(on, device_lambda_gradients<arguments>, last, last.shape.heads,
                       sum_of_threads<machine>::bytes);
}

// wane::adjoint on a stream, with what wane::cuda::run says of memory and errors; `memory` is of
// adjoint_workspace_bytes(op, options). A run finds the states again and keeps some; another kernel
// goes backward; a third adds up sums over columns. Gradients of decays by element in a memory with
// rows, and of skips, are not there. Gradients must not overlap inputs.
template <int MostRows = any_rows, class Op, class Out, class Gradients,
          class State = accumulate_type<Op>>
void adjoint(stream on, Op const& op, sequence_view<Out> output_gradient,
             Gradients const& gradients, workspace memory,
             adjoint_options<State> const& options = {}) {
  check_adjoint<Op, Out, Gradients>();
  if constexpr (chunkable<Op> && std::is_trivially_copyable_v<Op>)
    if (runs_in_chunks(op))
      return with_most_rows<MostRows>(op, [&](auto most) {
        using Config = chunk_config<device_warps, most()>;
        auto const calls =
            chunk_adjoint_call<Config>(op, output_gradient, gradients, memory, options);
        prepare_chunk_adjoint<Config>(calls);
        queue_chunk_adjoint<Config>(on, calls);
      });
  if constexpr (penalised_in_chunks<Op> && std::is_trivially_copyable_v<Op>)
    return with_most_rows<MostRows>(op, [&](auto most) {
      queue_penalised_adjoint<most()>(on, op, output_gradient, gradients, memory, options);
    });
  if constexpr (scannable<Op> && std::is_trivially_copyable_v<Op>) {
    using Config = default_adjoint_config<accumulate_type<Op>>;
    auto const calls = scan_adjoint_call<Config>(op, output_gradient, gradients, memory, options);
    if (options.packed.present())
      launch_adjoint<Config, true>(on, calls);
    else
      launch_adjoint<Config, false>(on, calls);
  }
}

}  // namespace wane::cuda
