// run and adjoint on an emulated GPU: the code of the CUDA kernels, on the CPU, for tests.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "wane/cuda/workspace_bytes.hpp"
#include "wane/testing/emulated_queue.hpp"
#include "wane/testing/emulated_sizes.hpp"

namespace wane::testing::impl {

// Memory that a kernel may use, aligned as cudaMalloc aligns it.
class lent_memory {
 public:
  // Every byte is 0xff: numbers that are NaN.
  explicit lent_memory(std::size_t bytes) : units_(bytes / sizeof(unit) + 1) {
    std::memset(static_cast<void*>(units_.data()), 0xff, units_.size() * sizeof(unit));
  }
  operator cuda::workspace() { return {units_.data(), units_.size() * sizeof(unit)}; }

 private:
  struct alignas(16) unit {  // (nvcc does not take a vector of std::max_align_t)
    std::byte bytes[16];
  };
  std::vector<unit> units_;
};

// Runs the kernel of this configuration on an emulated queue, without asking the table.
template <class Config, class Queue, class Op, class Out, class State>
void run_named(Queue const& queue, Op const& op, sequence_view<Out> const& output,
               run_options<State> const& options) {
  cuda::impl::check_run<Op, Out>();
  using named = named_kernel<Config>;
  using sizes = typename named::sizes;
  lent_memory memory(named::row::template run_bytes<sizes>(op, options));
  named::row::template run<sizes>(queue, op, output, cuda::workspace(memory), options);
}
template <class Config, class Queue, class Op, class Out, class Gradients, class State>
void adjoint_named(Queue const& queue, Op const& op, sequence_view<Out> const& output_gradient,
                   Gradients const& gradients, adjoint_options<State> const& options) {
  cuda::impl::check_adjoint<Op, Out, Gradients>();
  using named = named_kernel<Config>;
  using sizes = typename named::sizes;
  using row = typename named::row;
  lent_memory memory(cuda::impl::adjoint_bytes_of<row, sizes, Out>(op, options));
  cuda::impl::queue_adjoint_of<row, sizes>(queue, op, output_gradient, gradients,
                                           cuda::workspace(memory), options);
}

}  // namespace wane::testing::impl

namespace wane::testing {

// wane::cuda::run on memory of the host, by the kernel that a device would launch, with smaller
// blocks and at most 32 rows of memories with keys; or by the kernel of a configuration.
//   wane::testing::run(wane::testing::emulated_gpu{}, op, output);
//   wane::testing::run<wane::testing::small_chunks<128>>({}, op, output, options);
// Throws machine_fault where the kernel breaks a rule of the machine.
template <class Config = as_on_device, class Op, class Out, class State = accumulate_type<Op>>
void run(emulated_gpu const& gpu, Op const& op, sequence_view<Out> output,
         run_options<State> const& options = {}) {
  impl::emulated_queue<> const queue(gpu);
  if constexpr (std::is_same_v<Config, as_on_device>) {
    impl::lent_memory memory(cuda::impl::run_bytes<impl::small_sizes>(op, options));
    cuda::impl::queue_run<impl::small_sizes>(queue, op, output, memory, options);
  } else {
    impl::run_named<Config>(queue, op, output, options);
  }
}

// wane::cuda::adjoint, likewise.
template <class Config = as_on_device, class Op, class Out, class Gradients,
          class State = accumulate_type<Op>>
void adjoint(emulated_gpu const& gpu, Op const& op, sequence_view<Out> output_gradient,
             Gradients const& gradients, adjoint_options<State> const& options = {}) {
  impl::emulated_queue<> const queue(gpu);
  if constexpr (std::is_same_v<Config, as_on_device>) {
    impl::lent_memory memory(cuda::impl::adjoint_bytes<impl::small_sizes, Out>(op, options));
    cuda::impl::queue_adjoint<impl::small_sizes>(queue, op, output_gradient, gradients, memory,
                                                 options);
  } else {
    impl::adjoint_named<Config>(queue, op, output_gradient, gradients, options);
  }
}

// For law_kit and adjoint_law_kit: every call has an order of its own.
template <class Config = as_on_device>
class emulated_runner {
 public:
  static constexpr bool takes_lengths = false;
  explicit emulated_runner(emulated_gpu const& gpu = {}) : gpu_(gpu) {}

  template <class Op, class Out, class State>
  void operator()(Op const& op, sequence_view<Out> output,
                  run_options<State> const& options) const {
    testing::run<Config>(next(), op, output, options);
  }
  template <class Op, class Out, class Gradients, class State>
  void operator()(Op const& op, sequence_view<Out> output_gradient, Gradients const& gradients,
                  adjoint_options<State> const& options) const {
    testing::adjoint<Config>(next(), op, output_gradient, gradients, options);
  }

 private:
  emulated_gpu next() const {
    emulated_gpu other = gpu_;
    other.seed += calls_++;
    return other;
  }

  emulated_gpu gpu_;
  mutable unsigned calls_ = 0;
};

}  // namespace wane::testing
