// The interfaces of kernels and of the queues that run them.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/recurrence.hpp"
#include "wane/cuda/machine/machine.hpp"

namespace wane::cuda::impl {

// A kernel is a type without data. Config has its sizes, Arguments what it reads and writes.
//   threads<Config>                        threads of a block
//   resident<Config, Arguments>            blocks that a processor should have registers for
//   shared_bytes<Config>(arguments)        shared memory of a block
//   run<Config>(machine, arguments, block) one thread of block number `block`
//
// A queue runs kernels one after the other. A call is written once, for any queue: device_queue
// puts kernels in a stream (device_queue.cuh), the queue of the emulated GPU runs them at once
// (testing/emulated_queue.hpp).
//   prepare<Kernel, Config>(arguments)     throws where a block has not enough shared memory
//   zero(memory, bytes)                    sets memory to zeros
//   run_blocks<Kernel, Config>(arguments, count)
//                                          `count` blocks; none waits for another
//   run_workers<Kernel, Config>(arguments) as many blocks as the machine holds at a time, which
//                                          share arguments.work_items() pieces of work. The queue
//                                          zeroes arguments.counters() and sets arguments.blocks
struct kernel_counters {
  void* data;
  std::size_t bytes;
};

// Most kernels have as many threads as their configuration says.
struct configured_kernel {
  template <class Config>
  static constexpr int threads = Config::threads;
};
// The configuration of a kernel that needs none.
struct no_config {};

}  // namespace wane::cuda::impl
