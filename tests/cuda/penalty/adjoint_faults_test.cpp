// Faults planted in the adjoint of penalised memories are each seen by the emulated GPU or in the
// result.
// SPDX-License-Identifier: MIT
#include "cuda/chunks/adjoint_cases.hpp"
#include "support/faulty_barrier.hpp"
#include "wane/testing/emulated_run.hpp"

namespace {

using config = wane::cuda::impl::penalty_config<64>;
using enum wane::write_rule;

using memory_config = wane::cuda::impl::chunk_config<1, 48>;
using all = wane::testing::penalised_config<config, memory_config>;
using wane::cuda::impl::inverse_gradients_kernel, wane::cuda::impl::penalised_sequence_kernel,
    wane::cuda::impl::penalised_lambda_kernel;

// The adjoint, one of whose kernels lacks a barrier, counted from the start of each thread. (That
// of tokens has one barrier, for device memory, which the emulated GPU does not follow.)
template <class Kernel>
struct faulty_adjoint {
  int missing;

  template <class Op, class Out, class Gradients, class State>
  void operator()(Op const& op, wane::sequence_view<Out> dy, Gradients const& gradients,
                  wane::adjoint_options<State> const& options) const {
    wane::testing::impl::adjoint_named<all>(support::queue_without<Kernel>(missing), op, dy,
                                            gradients, options);
  }
};

template <class Kernel, wane::write_rule Rule, bool Given>
bool is_right(int missing, wane::index time = 32) {
  support::chunk_adjoint_cases<faulty_adjoint<Kernel>> const cases{{missing}};
  try {
    return cases.template distance<float>(
               {.time = time, .heads = 1, .rows = 40, .columns = 3},
               [](auto const& x) { return x.template fading_vla<Rule>(Given); }) < 1e-4;
  } catch (wane::testing::machine_fault const&) {
    return false;
  }
}

// Each of so many barriers, but for those that are not needed.
template <class Kernel, wane::write_rule Rule, bool Given>
void expect_seen(int barriers, std::vector<int> const& but, wane::index time = 32) {
  EXPECT_TRUE((is_right<Kernel, Rule, Given>(-1, time)));
  for (int n = 0; n < barriers; ++n)
    EXPECT_EQ((is_right<Kernel, Rule, Given>(n, time)), std::count(but.begin(), but.end(), n) == 1)
        << n;
}

// One of a renewal, two parts of which one warp takes in one after the other, one of
// two in a row, since sequences without tokens need the second, and one that ends a solve where
// another follows.
TEST(FaultsOfPenaltyAdjoint, AMissingBarrierIsSeenWhicheverItIs) {
  expect_seen<inverse_gradients_kernel, rls, false>(57, {15, 40, 41, 47});
  expect_seen<inverse_gradients_kernel, unit, true>(57, {15, 40, 41, 47});
  // More tokens than threads.
  expect_seen<penalised_sequence_kernel, unit, true>(6, {}, 140);
  expect_seen<penalised_lambda_kernel, unit, true>(1, {});
}

}  // namespace
