// run on an emulated GPU: the code of the CUDA kernels, on the CPU, for tests.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/cuda/scan_call.hpp"
#include "wane/testing/emulated_gpu.hpp"

namespace wane::testing {

// Small blocks, threads and groups, so that a few hundred tokens pass through every part.
using small_scan = cuda::scan_config<64, 3, 2, 64, 512>;

// wane::cuda::run on memory of the host. Throws machine_fault where the kernel breaks a rule.
template <class Config = small_scan, class Op, class Out, class State = accumulate_type<Op>>
void run(emulated_gpu const& gpu, Op const& op, sequence_view<Out> output,
         run_options<State> const& options = {}) {
  cuda::check_scan<Op, Out>();
  if constexpr (scannable<Op> && std::is_trivially_copyable_v<Op>) {
    using word = std::max_align_t;
    std::vector<word> memory(cuda::scan_workspace_bytes<Config>(op, options) / sizeof(word) + 1);
    cuda::workspace const lent{memory.data(), memory.size() * sizeof(word)};
    auto arguments = cuda::scan_call<Config>(op, output, options, lent);
    std::memset(memory.data(), 0, arguments.work.zeroed_bytes);
    emulated_gpu resident = gpu;
    resident.blocks = static_cast<int>(std::min<index>(gpu.blocks, arguments.plan.work_items()));
    arguments.blocks = resident.blocks;
    emulated_grid<Config::threads> grid(resident, arguments.layout.bytes);
    grid.run([&](auto& machine) {
      if (options.packed.present())
        cuda::scan_kernel<Config, true>(machine, arguments);
      else
        cuda::scan_kernel<Config, false>(machine, arguments);
    });
  }
}

// For law_kit: every call has an order of its own.
template <class Config = small_scan>
class emulated_runner {
 public:
  explicit emulated_runner(emulated_gpu const& gpu = {}) : gpu_(gpu) {}

  template <class Op, class Out, class State>
  void operator()(Op const& op, sequence_view<Out> output,
                  run_options<State> const& options) const {
    emulated_gpu other = gpu_;
    other.seed += calls_++;
    testing::run<Config>(other, op, output, options);
  }

 private:
  emulated_gpu gpu_;
  mutable unsigned calls_ = 0;
};

}  // namespace wane::testing
