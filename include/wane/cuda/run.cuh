// run on a GPU: the door to the fused scan.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/device.cuh"
#include "wane/cuda/launch.cuh"
#include "wane/cuda/scan_call.hpp"

namespace wane::cuda {

template <class Config, bool Packed, class Op, class Out, class State>
__global__ void __launch_bounds__(Config::threads, 2)
    device_scan(__grid_constant__ scan_arguments<Op, Out, State> const arguments) {
  device_thread<Config::threads> machine;
  scan_kernel<Config, Packed>(machine, arguments);
}

// Queues a prepared scan on a stream.
template <class Config, bool Packed, class Op, class Out, class State>
void launch_scan(stream on, scan_arguments<Op, Out, State> arguments) {
  auto const kernel = &device_scan<Config, Packed, Op, Out, State>;
  int device = 0, processors = 0, room = 0, resident = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute(multiprocessors)");
  check(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "cudaDeviceGetAttribute(shared memory)");
  std::size_t const shared = arguments.layout.bytes;
  require(shared <= static_cast<std::size_t>(room), "the operator has rows ",
          arguments.plan.shape.rows, "; a block would need ", shared,
          " bytes of shared memory, and this device has ", room);
  // The limit belongs to the kernel, not to the launch: always the same, so that others may launch.
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, room),
        "cudaFuncSetAttribute");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, Config::threads, shared),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  arguments.blocks = at_most(index{processors} * resident, arguments.plan.work_items());
  check(cudaMemsetAsync(arguments.work.tickets, 0, arguments.work.zeroed_bytes, on.handle),
        "cudaMemsetAsync");
  cudaLaunchConfig_t launch = {};
  launch.gridDim = dim3(static_cast<unsigned>(arguments.blocks));
  launch.blockDim = dim3(Config::threads);
  launch.dynamicSmemBytes = shared;
  launch.stream = on.handle;
  check(cudaLaunchKernelEx(&launch, kernel, arguments), "the launch of the scan");
}

// wane::run on a stream: the tensors of `op`, the output, states, positions and starts lie in
// memory that the device reads, and so does `memory`, of workspace_bytes(op, options). Returns when
// the work is queued; allocates nothing, and may be captured in a graph. The same bits each time.
// Of `options`, threads and threads_over_time mean nothing here. Tensors may not overlap, but
// `final` may be `initial` (unless sequences are packed).
// Throws wane::error when a shape does not fit, and wane::cuda::runtime_error when CUDA refuses.
template <class Op, class Out, class State = accumulate_type<Op>>
void run(stream on, Op const& op, sequence_view<Out> output, workspace memory,
         run_options<State> const& options = {}) {
  check_scan<Op, Out>();
  if constexpr (scannable<Op> && std::is_trivially_copyable_v<Op>) {
    using Config = default_scan_config<accumulate_type<Op>>;
    auto const arguments = scan_call<Config>(op, output, options, memory);
    if (options.packed.present())
      launch_scan<Config, true>(on, arguments);
    else
      launch_scan<Config, false>(on, arguments);
  }
}

}  // namespace wane::cuda
