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

// A kernel on the current device. Each copy of a kernel has a limit of shared memory of its own,
// and nvcc 13 gives every file of a program its own copy, while the linker takes each function of
// device_queue from any of the files. Therefore a function names a kernel once (of).
struct device_kernel {
  void const* address;
  int threads;
  std::size_t shared_bytes;  // of a block
  index rows;                // of the recurrence

  template <class Kernel, class Config, class Arguments>
  static device_kernel of(Arguments const& arguments) {
    return {reinterpret_cast<void const*>(on_device<Kernel, Config, Arguments>),
            threads_of<Kernel, Config>, Kernel::template shared_bytes<Config>(arguments),
            shape_of(arguments).rows};
  }

  // Raises the kernel's limit of shared memory. Throws wane::error where a block needs more than
  // the device has. The limit is always the device's largest, so that calls from several threads do
  // not lower it for each other.
  void raise_limit() const {
    int const room =
        attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, "cudaDeviceGetAttribute(shared memory)");
    require(shared_bytes <= static_cast<std::size_t>(room), "the operator has rows ", rows,
            "; a block would need ", shared_bytes, " bytes of shared memory, and this device has ",
            room);
    throw_on_error(cudaFuncSetAttribute(address, cudaFuncAttributeMaxDynamicSharedMemorySize, room),
                   "cudaFuncSetAttribute");
  }
  // The blocks that the device holds at a time.
  index resident() const {
    int on_each = 0;
    throw_on_error(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_each, address, threads, shared_bytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    return index{on_each} *
           attribute(cudaDevAttrMultiProcessorCount, "cudaDeviceGetAttribute(multiprocessors)");
  }
  template <class Arguments>
  void launch(Arguments const& arguments, index blocks, cudaStream_t on) const {
    require(blocks <= 0x7fffffff, "a kernel would need ", blocks,
            " blocks; a device takes 2^31 - 1");
    Arguments copy = arguments;
    void* parameters[] = {&copy};
    throw_on_error(
        cudaLaunchKernel(address, dim3(static_cast<unsigned>(blocks)),
                         dim3(static_cast<unsigned>(threads)), parameters, shared_bytes, on),
        "the launch of a kernel");
  }

 private:
  static int attribute(cudaDeviceAttr which, char const* call) {
    int device = 0, value = 0;
    throw_on_error(cudaGetDevice(&device), "cudaGetDevice");
    throw_on_error(cudaDeviceGetAttribute(&value, which, device), call);
    return value;
  }
};

// See kernel.hpp. Calls that the device refuses throw before their kernel is queued.
class device_queue {
 public:
  explicit device_queue(stream on) : on_(on.handle) {}

  template <class Kernel, class Config, class Arguments>
  void prepare(Arguments const& arguments) const {
    device_kernel::of<Kernel, Config>(arguments).raise_limit();
  }
  void zero(void* memory, std::size_t bytes) const {
    throw_on_error(cudaMemsetAsync(memory, 0, bytes, on_), "cudaMemsetAsync");
  }
  template <class Kernel, class Config, class Arguments>
  void run_blocks(Arguments const& arguments, index count) const {
    if (count == 0) return;
    auto const kernel = device_kernel::of<Kernel, Config>(arguments);
    if (kernel.shared_bytes > allowed_unasked) kernel.raise_limit();
    kernel.launch(arguments, count, on_);
  }
  template <class Kernel, class Config, class Arguments>
  void run_workers(Arguments arguments) const {
    auto const kernel = device_kernel::of<Kernel, Config>(arguments);
    kernel.raise_limit();
    // At least one block, for the work that follows the last item.
    arguments.blocks = at_least(index{1}, at_most(kernel.resident(), arguments.work_items()));
    zero(arguments.counters().data, arguments.counters().bytes);
    kernel.launch(arguments, arguments.blocks, on_);
  }

 private:
  static constexpr std::size_t allowed_unasked = 48 * 1024;  // bytes of shared memory

  cudaStream_t on_;
};

}  // namespace wane::cuda::impl
