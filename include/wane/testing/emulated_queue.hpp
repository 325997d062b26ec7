// emulated_queue: runs kernels at once on an emulated GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstring>

#include "wane/cuda/machine/kernel.hpp"
#include "wane/testing/emulated_gpu.hpp"

namespace wane::testing::impl {

// Threads that keep the rules. A test may give others, which plant a fault in the threads of one
// kernel: run<Kernel>(thread, body) calls body(the thread, or one in its place).
struct sound_threads {
  template <class Kernel, class Thread, class Body>
  void run(Thread& thread, Body const& body) const {
    body(thread);
  }
};

// See wane/cuda/machine/kernel.hpp.
template <class Threads = sound_threads>
class emulated_queue {
 public:
  explicit emulated_queue(emulated_gpu const& gpu, Threads const& threads = {})
      : gpu_(gpu), threads_(threads) {}

  template <class Kernel, class Config, class Arguments>
  void prepare(Arguments const&) const {}
  void zero(void* memory, std::size_t bytes) const { std::memset(memory, 0, bytes); }

  // One block after the other.
  template <class Kernel, class Config, class Arguments>
  void run_blocks(Arguments const& arguments, index count) const {
    for (index n = 0; n < count; ++n)
      run_grid<Kernel, Config>({1, gpu_.seed}, arguments,
                               gpu_.order == turns::last_taken ? count - 1 - n : n);
  }
  template <class Kernel, class Config, class Arguments>
  void run_workers(Arguments arguments) const {
    emulated_gpu gpu = gpu_;
    arguments.blocks = std::clamp<index>(arguments.work_items(), 1, gpu.blocks);
    gpu.blocks = static_cast<int>(arguments.blocks);
    zero(arguments.counters().data, arguments.counters().bytes);
    run_grid<Kernel, Config>(gpu, arguments, 0);
  }

 private:
  template <class Kernel, class Config, class Arguments>
  void run_grid(emulated_gpu const& gpu, Arguments const& arguments, index block) const {
    emulated_grid<Kernel::template threads<Config>> grid(
        gpu, Kernel::template shared_bytes<Config>(arguments));
    grid.run([&](auto& thread) {
      threads_.template run<Kernel>(
          thread, [&](auto& machine) { Kernel::template run<Config>(machine, arguments, block); });
    });
  }

  emulated_gpu gpu_;
  Threads threads_;
};

}  // namespace wane::testing::impl
