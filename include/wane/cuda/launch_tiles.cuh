// launch_tiles: queues a kernel over tiles, with as many blocks as the device holds at a time.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/cuda/launch.cuh"
#include "wane/cuda/scan_plan.hpp"

namespace wane::cuda {

// `arguments` are those of the kernel, but for the number of blocks.
template <int Threads, class Arguments>
void launch_tiles(stream on, void (*kernel)(Arguments), Arguments arguments) {
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
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, Threads, shared),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  arguments.blocks = at_most(index{processors} * resident, arguments.plan.work_items());
  check(cudaMemsetAsync(arguments.work.tickets, 0, arguments.work.zeroed_bytes, on.handle),
        "cudaMemsetAsync");
  cudaLaunchConfig_t launch = {};
  launch.gridDim = dim3(static_cast<unsigned>(arguments.blocks));
  launch.blockDim = dim3(Threads);
  launch.dynamicSmemBytes = shared;
  launch.stream = on.handle;
  check(cudaLaunchKernelEx(&launch, kernel, arguments), "the launch of a kernel over tiles");
}

}  // namespace wane::cuda
