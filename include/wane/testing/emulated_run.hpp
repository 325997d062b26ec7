// run on an emulated GPU: the code of the CUDA kernels, on the CPU, for tests.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <vector>

#include "wane/cuda/adjoint_call.hpp"
#include "wane/cuda/run_call.hpp"
#include "wane/testing/emulated_gpu.hpp"

namespace wane::testing {

// Small blocks, threads and groups, so that a few hundred tokens pass through every part.
using small_scan = cuda::scan_config<64, 3, 2, 64, 512>;
using small_chunk = cuda::chunk_config<1, 32>;
// Of penalised memories: the kernel of penalties, and that of S.
template <class Penalty, class Memory>
struct penalised_config {
  using penalty = Penalty;
  using memory = Memory;
};

// Memory that a kernel may use, aligned as cudaMalloc aligns it.
class lent_memory {
 public:
  // Full of what is no number.
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

// Runs one kernel over tiles; body(packed, machine, arguments), packed being a constant.
template <class Config, class Arguments, class Body>
void run_emulated(emulated_gpu gpu, Arguments arguments, Body const& body) {
  std::memset(static_cast<void*>(arguments.work.tickets), 0, arguments.work.zeroed_bytes);
  arguments.blocks = std::min<index>(gpu.blocks, arguments.plan.work_items());
  gpu.blocks = static_cast<int>(arguments.blocks);
  emulated_grid<Config::threads> grid(gpu, arguments.layout.bytes);
  grid.run([&](auto& machine) {
    if (arguments.sequences.starts)
      body(std::true_type{}, machine, arguments);
    else
      body(std::false_type{}, machine, arguments);
  });
}

// Runs one kernel over pieces of columns; body(machine, arguments).
template <class Config, class Arguments, class Body>
void run_chunks(emulated_gpu gpu, Arguments arguments, Body const& body) {
  arguments.counters[0] = arguments.counters[1] = 0;
  arguments.blocks = std::clamp<index>(arguments.work_items(), 1, gpu.blocks);
  gpu.blocks = static_cast<int>(arguments.blocks);
  emulated_grid<Config::threads>(gpu, Arguments::template layout<Config>.bytes)
      .run([&](auto& machine) { body(machine, arguments); });
}

// The same, or those of segments and the links between them.
template <class Config, class Arguments, class Body>
void run_segments(emulated_gpu const& gpu, Arguments const& all, Body const& body) {
  cuda::in_segments(
      all, [&](auto const& part) { run_chunks<Config>(gpu, part, body); },
      [&](auto const& part) {
        for (index n = 0; n < cuda::blocks_of_links(part); ++n)
          emulated_grid<Config::threads>({1, gpu.seed}, 0).run([&](auto& machine) {
            cuda::link_segments<Config>(machine, part, n);
          });
      });
}

// wane::cuda::run and adjoint by the chunk kernels of this configuration.
template <class Config, class Op, class Out, class State>
void run_in_chunks(emulated_gpu const& gpu, Op const& op, sequence_view<Out> output,
                   cuda::workspace const& memory, run_options<State> const& options) {
  run_segments<Config>(
      gpu, cuda::chunk_call<Config>(op, output, memory, options),
      [](auto& machine, auto const& arguments) { cuda::chunk_kernel<Config>(machine, arguments); });
}
template <class Config, class Op, class Out, class State>
void run_in_chunks(emulated_gpu const& gpu, Op const& op, sequence_view<Out> output,
                   run_options<State> const& options) {
  lent_memory memory(cuda::chunk_workspace_bytes<Config>(op, options));
  run_in_chunks<Config>(gpu, op, output, memory, options);
}
template <class Config, class Op, class Out, class Gradients, class State>
void adjoint_in_chunks(emulated_gpu const& gpu, Op const& op, sequence_view<Out> output_gradient,
                       Gradients const& gradients, cuda::workspace const& memory,
                       adjoint_options<State> const& options) {
  auto const calls =
      cuda::chunk_adjoint_call<Config>(op, output_gradient, gradients, memory, options);
  run_segments<Config>(gpu, calls.forward, [](auto& machine, auto const& arguments) {
    cuda::chunk_kernel<Config>(machine, arguments);
  });
  run_segments<Config>(gpu, calls.backward, [](auto& machine, auto const& arguments) {
    cuda::chunk_adjoint_kernel<Config>(machine, arguments);
  });
  if constexpr (cuda::takes_sums<Gradients, Op>) {
    auto const last = calls.last();
    for (index n = 0; n < calls.chunks; ++n)
      emulated_grid<Config::threads>({1, gpu.seed}, last.template layout<Config>.bytes)
          .run([&](auto& machine) { cuda::chunk_gradients_kernel<Config>(machine, last, n); });
  }
}
template <class Config, class Op, class Out, class Gradients, class State>
void adjoint_in_chunks(emulated_gpu const& gpu, Op const& op, sequence_view<Out> output_gradient,
                       Gradients const& gradients, adjoint_options<State> const& options) {
  lent_memory memory(cuda::chunk_adjoint_workspace_bytes<Config, Out>(op, options));
  adjoint_in_chunks<Config>(gpu, op, output_gradient, gradients, memory, options);
}

// Runs blocks that need nothing of each other, one after the other; body(machine, block).
template <int Threads, class Body>
void run_blocks(emulated_gpu const& gpu, index blocks, std::size_t shared, Body const& body) {
  for (index n = 0; n < blocks; ++n)
    emulated_grid<Threads>({1, gpu.seed}, shared).run([&](auto& machine) {
      body(machine, gpu.order == turns::last_taken ? blocks - 1 - n : n);
    });
}
template <class Config, class Op, class State>
void run_penalties(emulated_gpu const& gpu, cuda::penalty_arguments<Op, State> const& all) {
  cuda::in_segments(
      all,
      [&](auto const& part) {
        run_blocks<Config::threads>(
            gpu, part.work_items(), part.layout.bytes,
            [&](auto& machine, index n) { cuda::penalty_kernel<Config>(machine, part, n); });
      },
      [&](auto const& part) {
        run_blocks<Config::threads>(
            gpu, part.lines(), part.layout.bytes,
            [&](auto& machine, index n) { cuda::penalty_links<Config>(machine, part, n); });
      });
}

// wane::cuda::run and adjoint of penalised memories, by these configurations.
template <class Config, class MemoryConfig, class Op, class Out, class State>
void run_penalised(emulated_gpu const& gpu, Op const& op, sequence_view<Out> output,
                   run_options<State> const& options) {
  lent_memory memory(cuda::penalised_workspace_of<Config, MemoryConfig>(op, options).bytes);
  auto const calls = cuda::penalised_call<Config, MemoryConfig>(op, output, memory, options);
  run_penalties<Config>(gpu, calls.penalty);
  run_in_chunks<MemoryConfig>(gpu, calls.memory, output, calls.lent, calls.options);
}

template <class Config, class MemoryConfig, class Op, class Out, class Gradients, class State>
void adjoint_penalised(emulated_gpu const& gpu, Op const& op, sequence_view<Out> output_gradient,
                       Gradients const& gradients, adjoint_options<State> const& options) {
  using Dy = std::remove_const_t<Out>;
  lent_memory memory(
      cuda::penalised_adjoint_workspace::of<Config, MemoryConfig, Dy>(op, options).bytes);
  auto const calls = cuda::penalised_adjoint_call<Config, MemoryConfig>(op, output_gradient,
                                                                        gradients, memory, options);
  run_penalties<Config>(gpu, calls.directions);
  adjoint_in_chunks<MemoryConfig>(gpu, calls.memory, output_gradient, calls.of_memory, calls.lent,
                                  calls.options);
  run_blocks<Config::threads>(gpu, calls.answers.work_items(), calls.answers.layout.bytes,
                              [&](auto& machine, index n) {
                                cuda::penalty_answer_kernel<Config>(machine, calls.answers, n);
                              });
  run_in_chunks<MemoryConfig>(gpu, calls.sums, calls.gradients.sums, calls.lent,
                              calls.options_of_sums);
  auto const& last = calls.gradients;
  constexpr int threads = cuda::penalised_gradient_threads;
  using arguments = std::remove_cvref_t<decltype(last)>;
  using lines = cuda::penalised_line_gradients<emulated_thread<threads>, arguments>;
  run_blocks<threads>(gpu, last.chunks(), 0, [&](auto& machine, index n) {
    cuda::penalised_token_gradients(machine, last, n)();
  });
  run_blocks<threads>(gpu, last.lines(), lines::shared_bytes,
                      [&](auto& machine, index n) { lines(machine, last, n)(); });
  run_blocks<threads>(gpu, last.shape.heads, lines::shared_bytes,
                      [&](auto& machine, index n) { cuda::give_lambda(machine, last, n); });
}

// wane::cuda::run by the kernel for one token.
template <class Config, class Op, class Out, class State>
void run_one_step(emulated_gpu gpu, Op const& op, sequence_view<Out> output,
                  run_options<State> const& options) {
  lent_memory memory(cuda::step_workspace_bytes);
  auto arguments = cuda::step_call<Config>(op, output, memory, options);
  *arguments.finished = 0;
  arguments.blocks = arguments.work_items();
  for (index n = 0; n < arguments.blocks; ++n)
    emulated_grid<Config::threads>({1, gpu.seed}, arguments.layout.bytes).run([&](auto& machine) {
      cuda::step_kernel<Config>(machine, arguments, n);
    });
}

// wane::cuda::run on memory of the host. Throws machine_fault where the kernel breaks a rule.
template <class Config = small_scan, class Op, class Out, class State = accumulate_type<Op>>
void run(emulated_gpu const& gpu, Op const& op, sequence_view<Out> output,
         run_options<State> const& options = {}) {
  cuda::check_run<Op, Out>();
  if constexpr (requires { typename Config::penalty; }) {
    run_penalised<typename Config::penalty, typename Config::memory>(gpu, op, output, options);
  } else if constexpr (cuda::penalised_in_chunks<Op>) {
    run_penalised<cuda::penalty_config<32>, small_chunk>(gpu, op, output, options);
  } else if constexpr (requires { Config::groups; }) {
    run_one_step<Config>(gpu, op, output, options);
  } else if constexpr (requires { Config::most_rows; }) {
    run_in_chunks<Config>(gpu, op, output, options);
  } else if constexpr (cuda::chunkable<Op> && !scannable<Op>) {
    run_in_chunks<small_chunk>(gpu, op, output, options);
  } else if constexpr (scannable<Op> && std::is_trivially_copyable_v<Op>) {
    lent_memory memory(cuda::scan_workspace_bytes<Config>(op, options));
    run_emulated<Config>(gpu, cuda::scan_call<Config>(op, output, memory, options),
                         [](auto packed, auto& machine, auto const& arguments) {
                           cuda::scan_kernel<Config, packed()>(machine, arguments);
                         });
  }
}

// wane::cuda::adjoint, likewise.
template <class Config = small_scan, class Op, class Out, class Gradients,
          class State = accumulate_type<Op>>
void adjoint(emulated_gpu const& gpu, Op const& op, sequence_view<Out> output_gradient,
             Gradients const& gradients, adjoint_options<State> const& options = {}) {
  cuda::check_adjoint<Op, Out, Gradients>();
  if constexpr (requires { typename Config::penalty; }) {
    adjoint_penalised<typename Config::penalty, typename Config::memory>(gpu, op, output_gradient,
                                                                         gradients, options);
  } else if constexpr (cuda::penalised_in_chunks<Op>) {
    adjoint_penalised<cuda::penalty_config<32>, small_chunk>(gpu, op, output_gradient, gradients,
                                                             options);
  } else if constexpr (requires { Config::most_rows; }) {
    adjoint_in_chunks<Config>(gpu, op, output_gradient, gradients, options);
  } else if constexpr (cuda::chunkable<Op> && !scannable<Op>) {
    adjoint_in_chunks<small_chunk>(gpu, op, output_gradient, gradients, options);
  } else if constexpr (scannable<Op> && std::is_trivially_copyable_v<Op>) {
    lent_memory memory(cuda::scan_adjoint_workspace_bytes<Config>(op, options));
    auto const calls =
        cuda::scan_adjoint_call<Config>(op, output_gradient, gradients, memory, options);
    run_emulated<Config>(gpu, calls.forward, [](auto packed, auto& machine, auto const& arguments) {
      cuda::scan_kernel<Config, packed()>(machine, arguments);
    });
    run_emulated<Config>(gpu, calls.backward,
                         [](auto packed, auto& machine, auto const& arguments) {
                           cuda::adjoint_kernel<Config, packed()>(machine, arguments);
                         });
    if constexpr (cuda::takes_sums<Gradients, Op>)
      for (index n = 0; n < cuda::blocks_of_sums<Op>(calls.backward.plan); ++n)
        emulated_grid<Config::threads>({1, gpu.seed}, cuda::shared_bytes_of_sums)
            .run([&](auto& machine) {
              if (options.packed.present())
                cuda::sums_kernel<true>(machine, calls.backward, n);
              else
                cuda::sums_kernel<false>(machine, calls.backward, n);
            });
  }
}

// For law_kit and adjoint_law_kit: every call has an order of its own.
template <class Config = small_scan>
class emulated_runner {
 public:
  static constexpr bool takes_lengths = false;
  explicit emulated_runner(emulated_gpu const& gpu = {}) : gpu_(gpu) {}

  template <class Op, class Out, class State>
  void operator()(Op const& op, sequence_view<Out> output,
                  run_options<State> const& options) const {
    emulated_gpu other = gpu_;
    other.seed += calls_++;
    testing::run<Config>(other, op, output, options);
  }
  template <class Op, class Out, class Gradients, class State>
  void operator()(Op const& op, sequence_view<Out> output_gradient, Gradients const& gradients,
                  adjoint_options<State> const& options) const {
    emulated_gpu other = gpu_;
    other.seed += calls_++;
    testing::adjoint<Config>(other, op, output_gradient, gradients, options);
  }

 private:
  emulated_gpu gpu_;
  mutable unsigned calls_ = 0;
};

}  // namespace wane::testing
