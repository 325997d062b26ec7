// device_queue: runs kernels on a stream of a device.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/error.hpp"
#include "wane/core/numbers/simd.hpp"
#include "wane/cuda/machine/device.cuh"
#include "wane/cuda/machine/kernel.hpp"
#include "wane/cuda/machine/stream.cuh"

namespace wane::cuda::impl {

// (nvcc 13 takes variables for launch bounds, but no templates of a member.)
template <class Kernel, class Config>
inline constexpr int threads_of = Kernel::template threads<Config>;
template <class Kernel, class Config, class Arguments>
inline constexpr int resident_blocks = Kernel::template resident<Config, Arguments>;

// The CUDA kernel that runs any kernel type.
template <class Kernel, class Config, class Arguments>
__global__ void __launch_bounds__((threads_of<Kernel, Config>),
                                  (resident_blocks<Kernel, Config, Arguments>))
    on_device(__grid_constant__ Arguments const arguments) {
  device_thread<threads_of<Kernel, Config>> machine;
  Kernel::template run<Config>(machine, arguments, static_cast<index>(blockIdx.x));
}

// The shape of the recurrence that a kernel works on.
template <class Arguments>
recurrence_shape const& shape_of(Arguments const& a) {
  if constexpr (requires { a.plan; })
    return a.plan.shape;
  else
    return a.shape;
}

// See kernel.hpp. Calls that the device refuses throw before their kernel is queued.
class device_queue {
 public:
  explicit device_queue(stream on) : on_(on.handle) {}

  template <class Kernel, class Config, class Arguments>
  void prepare(Arguments const& arguments) const {
    (void)processors_for<Kernel, Config>(arguments);
  }
  void zero(void* memory, std::size_t bytes) const {
    throw_on_error(cudaMemsetAsync(memory, 0, bytes, on_), "cudaMemsetAsync");
  }
  template <class Kernel, class Config, class Arguments>
  void run_blocks(Arguments const& arguments, index count) const {
    if (count == 0) return;
    require(count <= 0x7fffffff, "a kernel would need ", count, " blocks; a device takes 2^31 - 1");
    cudaLaunchConfig_t launch = {};
    launch.gridDim = dim3(static_cast<unsigned>(count));
    launch.blockDim = dim3(threads_of<Kernel, Config>);
    launch.dynamicSmemBytes = Kernel::template shared_bytes<Config>(arguments);
    launch.stream = on_;
    throw_on_error(cudaLaunchKernelEx(&launch, on_device<Kernel, Config, Arguments>, arguments),
                   "the launch of a kernel");
  }
  template <class Kernel, class Config, class Arguments>
  void run_workers(Arguments arguments) const {
    int const processors = processors_for<Kernel, Config>(arguments);
    int resident = 0;
    throw_on_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                       &resident, on_device<Kernel, Config, Arguments>, threads_of<Kernel, Config>,
                       Kernel::template shared_bytes<Config>(arguments)),
                   "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    // At least one block, for the work that follows the last item.
    arguments.blocks =
        at_least(index{1}, at_most(index{processors} * resident, arguments.work_items()));
    zero(arguments.counters().data, arguments.counters().bytes);
    run_blocks<Kernel, Config>(arguments, arguments.blocks);
  }

 private:
  // Raises the kernel's limit of shared memory; returns the number of processors of the device.
  template <class Kernel, class Config, class Arguments>
  static int processors_for(Arguments const& arguments) {
    int device = 0, processors = 0, room = 0;
    throw_on_error(cudaGetDevice(&device), "cudaGetDevice");
    throw_on_error(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
                   "cudaDeviceGetAttribute(multiprocessors)");
    throw_on_error(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
                   "cudaDeviceGetAttribute(shared memory)");
    std::size_t const shared = Kernel::template shared_bytes<Config>(arguments);
    require(shared <= static_cast<std::size_t>(room), "the operator has rows ",
            shape_of(arguments).rows, "; a block would need ", shared,
            " bytes of shared memory, and this device has ", room);
    // The limit belongs to the kernel, not to the launch. It is always the device's largest, so
    // that calls from several threads do not lower it for each other.
    throw_on_error(cudaFuncSetAttribute(on_device<Kernel, Config, Arguments>,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize, room),
                   "cudaFuncSetAttribute");
    return processors;
  }

  cudaStream_t on_;
};

}  // namespace wane::cuda::impl
