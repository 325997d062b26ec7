// Faults planted in the adjoint in chunks are each seen by the emulated GPU or in the result.
// SPDX-License-Identifier: MIT
#include "cuda/chunks/adjoint_cases.hpp"
#include "support/faulty_barrier.hpp"
#include "wane/testing/emulated_run.hpp"

namespace {

using config = wane::cuda::chunk_config<2, 48>;

enum class kernel { backward, gradients };

// The adjoint, one of whose kernels lacks a barrier, counted from the start of each thread.
struct faulty_adjoint {
  kernel where;
  int missing;

  template <class Op, class Out, class Gradients, class State>
  void operator()(Op const& op, wane::sequence_view<Out> dy, Gradients const& gradients,
                  wane::adjoint_options<State> const& options) const {
    using namespace wane::cuda;
    wane::testing::lent_memory memory(chunk_adjoint_workspace_bytes<config, Out>(op, options));
    auto const calls = chunk_adjoint_call<config>(op, dy, gradients, memory, options);
    run(calls.forward, -1, [](auto& machine, auto const& a) { chunk_kernel<config>(machine, a); });
    run(calls.backward, where == kernel::backward ? missing : -1,
        [](auto& machine, auto const& a) { chunk_adjoint_kernel<config>(machine, a); });
    auto const last = calls.last();
    for (wane::index n = 0; n < calls.chunks; ++n)
      grid(last, where == kernel::gradients ? missing : -1,
           [n](auto& machine, auto const& a) { chunk_gradients_kernel<config>(machine, a, n); });
  }

 private:
  template <class Arguments, class Body>
  static void run(Arguments arguments, int missing, Body const& body) {
    arguments.counters[0] = arguments.counters[1] = 0;
    arguments.blocks = 1;
    grid(arguments, missing, body);
  }
  template <class Arguments, class Body>
  static void grid(Arguments const& arguments, int missing, Body const& body) {
    support::run_without<config::threads>(missing, Arguments::template layout<config>.bytes,
                                          [&](auto& machine) { body(machine, arguments); });
  }
};

// Two chunks, 40 rows and columns, so that every part of a kernel has work.
bool is_right(kernel where, int missing) {
  support::chunk_adjoint_cases<faulty_adjoint> const cases{{where, missing}};
  try {
    return cases.distance<float>({.time = 32, .heads = 1, .rows = 40, .columns = 40},
                                 [](auto const& x) { return x.rwkv7(); }) < 1e-5;
  } catch (wane::testing::machine_fault const&) {
    return false;
  }
}

TEST(FaultsOfChunkAdjoint, NoneIsSeenWhereThereIsNone) {
  EXPECT_TRUE(is_right(kernel::backward, -1));
}

// From the second on, for nothing comes before the first, to the last but one: the kernel ends.
TEST(FaultsOfChunkAdjoint, AMissingBarrierIsSeenWhicheverItIs) {
  for (int barrier = 1; barrier < 2 + 2 * 14 - 1; ++barrier)
    EXPECT_FALSE(is_right(kernel::backward, barrier)) << barrier;
  for (int barrier : {0, 1}) EXPECT_FALSE(is_right(kernel::gradients, barrier)) << barrier;
}

}  // namespace
