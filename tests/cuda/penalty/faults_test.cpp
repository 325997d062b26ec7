// Faults planted in the kernel of penalties are each seen by the emulated GPU or in the result.
// SPDX-License-Identifier: MIT
#include "cuda/penalty/cases.hpp"
#include "support/faulty_barrier.hpp"
#include "wane/testing/emulated_run.hpp"

namespace {

using config = wane::cuda::impl::penalty_config<64>;
using memory_config = wane::cuda::impl::chunk_config<1, 48>;
using enum wane::write_rule;

// Two chunks of 40 rows, in two warps; barriers are counted from the start of each thread.
template <class Op>
bool is_right(Op const& op, int missing) {
  wane::recurrent_state<float> state(op), other(op);
  std::vector<float> y(32 * 3), sound(y);
  wane::run_options<float> const options{.final = state};
  wane::sequence_view<float> const output(y.data(), 1, 32, 1, 3);
  auto const run = [&](wane::sequence_view<float> to, wane::run_options<float> const& with, int n) {
    using all = wane::testing::penalised_config<config, memory_config>;
    wane::testing::impl::run_named<all>(support::queue_without<wane::cuda::impl::penalty_kernel>(n),
                                        op, to, with);
  };
  try {
    run(output, options, missing);
  } catch (wane::testing::machine_fault const&) {
    return false;
  }
  run({sound.data(), 1, 32, 1, 3}, {.final = other}, -1);
  return y == sound && state.values() == other.values();
}
// Each of so many barriers but the last: then the kernel ends.
template <class Op>
void expect_seen(Op const& op, int barriers, int but = -1) {
  EXPECT_TRUE(is_right(op, -1));
  for (int n = 0; n < barriers - 1; ++n) EXPECT_EQ(is_right(op, n), n == but) << n;
}

support::chunk_numbers<float> const x{.shape = {.time = 32, .heads = 1, .rows = 40, .columns = 3},
                                      .strong = true};

TEST(FaultsOfPenalties, AMissingBarrierIsSeenWhicheverItIs) {
  expect_seen(x.vla<rls>(false), 2 * 8);
  expect_seen(x.vla<projective>(true), 2 * 12);
  // Of a renewal, two parts of which one warp takes in one after the other, one is not needed.
  expect_seen(x.fading_vla<rls>(false), 37, 19);
}

}  // namespace
