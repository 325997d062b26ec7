// adjoint on a GPU: the door to the gradients of the fused scan.
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
void launch_adjoint(stream on, adjoint_calls<Op, Out, Gradients, State> const& calls) {
  launch_tiles<Config::threads>(on, device_scan<Config, Packed, Op, accumulate_type<Op>, State>,
                                calls.forward);
  launch_tiles<Config::threads>(on, device_adjoint<Config, Packed, Op, Out, Gradients, State>,
                                calls.backward);
  if constexpr (takes_sums<Gradients, Op>) {
    index const blocks = blocks_of_sums<Op>(calls.backward.plan);
    if (blocks == 0) return;
    cudaLaunchConfig_t launch = {};
    launch.gridDim = dim3(static_cast<unsigned>(blocks));
    launch.blockDim = dim3(Config::threads);
    launch.dynamicSmemBytes = shared_bytes_of_sums;
    launch.stream = on.handle;
    using arguments = adjoint_arguments<Op, Out, Gradients, State>;
    check(cudaLaunchKernelEx(&launch, device_sums<Config::threads, Packed, arguments>,
                             calls.backward),
          "the launch of the sums");
  }
}

// wane::adjoint on a stream, with what wane::cuda::run says of memory and errors; `memory` is of
// adjoint_workspace_bytes(op, options). A scan finds the states again and keeps those before every
// tile; another goes backward; a third kernel adds up sums over columns. Gradients of decays by
// element in a memory with rows, and of skips, are not there. Gradients must not overlap inputs.
template <class Op, class Out, class Gradients, class State = accumulate_type<Op>>
void adjoint(stream on, Op const& op, sequence_view<Out> output_gradient,
             Gradients const& gradients, workspace memory,
             adjoint_options<State> const& options = {}) {
  check_adjoint<Op, Out, Gradients>();
  if constexpr (scannable<Op> && std::is_trivially_copyable_v<Op>) {
    using Config = default_adjoint_config<accumulate_type<Op>>;
    auto const calls = adjoint_call<Config>(op, output_gradient, gradients, options, memory);
    if (options.packed.present())
      launch_adjoint<Config, true>(on, calls);
    else
      launch_adjoint<Config, false>(on, calls);
  }
}

}  // namespace wane::cuda
