// Queues kernels whose blocks take work until there is none, as many as the device holds at a time.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/error.hpp"
#include "wane/core/numbers/simd.hpp"
#include "wane/cuda/machine/launch.cuh"

namespace wane::cuda {

// Lets a kernel have `shared` bytes of shared memory; returns the number of processors.
template <class Arguments>
int prepare_kernel(void (*kernel)(Arguments), index rows, std::size_t shared) {
  int device = 0, processors = 0, room = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute(multiprocessors)");
  check(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "cudaDeviceGetAttribute(shared memory)");
  require(shared <= static_cast<std::size_t>(room), "the operator has rows ", rows,
          "; a block would need ", shared, " bytes of shared memory, and this device has ", room);
  // The limit belongs to the kernel, not to the launch: always the same, so that others may launch.
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, room),
        "cudaFuncSetAttribute");
  return processors;
}

// One block for each piece of work, which needs nothing of the others.
template <int Threads, class Arguments>
void launch_grid(stream on, void (*kernel)(Arguments), Arguments const& arguments, index blocks,
                 std::size_t shared) {
  if (blocks == 0) return;
  require(blocks <= 0x7fffffff, "a kernel would need ", blocks, " blocks; a device takes 2^31 - 1");
  cudaLaunchConfig_t launch = {};
  launch.gridDim = dim3(static_cast<unsigned>(blocks));
  launch.blockDim = dim3(Threads);
  launch.dynamicSmemBytes = shared;
  launch.stream = on.handle;
  check(cudaLaunchKernelEx(&launch, kernel, arguments), "the launch of a kernel");
}

// `arguments` are those of the kernel, but for the number of blocks. Counters are zeroed first.
template <int Threads, class Arguments>
void launch_blocks(stream on, void (*kernel)(Arguments), Arguments arguments, index rows,
                   index work_items, void* counters, std::size_t bytes_of_counters,
                   std::size_t shared) {
  int const processors = prepare_kernel(kernel, rows, shared);
  int resident = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, Threads, shared),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  // One at least, for what is done when all have ended.
  arguments.blocks = at_least(index{1}, at_most(index{processors} * resident, work_items));
  check(cudaMemsetAsync(counters, 0, bytes_of_counters, on.handle), "cudaMemsetAsync");
  launch_grid<Threads>(on, kernel, arguments, arguments.blocks, shared);
}

template <int Threads, class Arguments>
void launch_tiles(stream on, void (*kernel)(Arguments), Arguments const& arguments) {
  launch_blocks<Threads>(on, kernel, arguments, arguments.plan.shape.rows,
                         arguments.plan.work_items(), arguments.work.tickets,
                         arguments.work.zeroed_bytes, arguments.layout.bytes);
}

}  // namespace wane::cuda
