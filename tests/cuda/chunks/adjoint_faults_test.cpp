// Faults planted in the adjoint in chunks are each seen by the emulated GPU or in the result.
// SPDX-License-Identifier: MIT
#include "cuda/chunks/adjoint_cases.hpp"
#include "support/faulty_barrier.hpp"
#include "wane/testing/emulated_run.hpp"

namespace {

using config = wane::cuda::impl::chunk_config<2, 48>;

using wane::cuda::impl::chunk_adjoint_kernel, wane::cuda::impl::chunk_gradients_kernel;

// The adjoint, one of whose kernels lacks a barrier, counted from the start of each thread.
template <class Kernel>
struct faulty_adjoint {
  int missing;

  template <class Op, class Out, class Gradients, class State>
  void operator()(Op const& op, wane::sequence_view<Out> dy, Gradients const& gradients,
                  wane::adjoint_options<State> const& options) const {
    wane::testing::impl::adjoint_named<config>(support::queue_without<Kernel>(missing), op, dy,
                                               gradients, options);
  }
};

// Two chunks, 40 rows and columns, so that every part of a kernel has work.
template <class Kernel>
bool is_right(int missing) {
  support::chunk_adjoint_cases<faulty_adjoint<Kernel>> const cases{{missing}};
  try {
    return cases.template distance<float>({.time = 32, .heads = 1, .rows = 40, .columns = 40},
                                          [](auto const& x) { return x.rwkv7(); }) < 1e-5;
  } catch (wane::testing::machine_fault const&) {
    return false;
  }
}

TEST(FaultsOfChunkAdjoint, NoneIsSeenWhereThereIsNone) {
  EXPECT_TRUE(is_right<chunk_adjoint_kernel>(-1));
}

// From the second on, for nothing comes before the first, to the last but one: the kernel ends.
TEST(FaultsOfChunkAdjoint, AMissingBarrierIsSeenWhicheverItIs) {
  for (int barrier = 1; barrier < 2 + 2 * 14 - 1; ++barrier)
    EXPECT_FALSE(is_right<chunk_adjoint_kernel>(barrier)) << barrier;
  for (int barrier : {0, 1}) EXPECT_FALSE(is_right<chunk_gradients_kernel>(barrier)) << barrier;
}

}  // namespace
