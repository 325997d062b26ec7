// The kernel of wane::cuda for one token, on an emulated GPU: as the recurrence in double.
// SPDX-License-Identifier: MIT
#include "cuda/chunks/cases.hpp"
#include "support/faulty_barrier.hpp"
#include "wane/testing/emulated_run.hpp"

namespace wane::testing {
namespace {

using config = cuda::impl::step_config<16>;
support::chunk_cases<emulated_runner<config>> const cases;

template <class Io>
void expect_all(support::chunk_shape const& shape) {
  cases.gla<Io>(shape), cases.retnet<Io>(shape), cases.mamba2<Io>(shape);
  cases.gated_delta_net<Io>(shape), cases.kimi<Io>(shape), cases.rwkv7<Io>(shape);
}
// A part of the columns of a block and more than one block has, rows of one group and of all.
TEST(EmulatedStep, IsATokenOfTheRecurrence) {
  expect_all<float>({.batch = 3, .time = 1, .rows = 16, .columns = 70});
  expect_all<bfloat16>({.batch = 1, .time = 1, .rows = 3, .columns = 1});
  cases.vla_delta_net<float>({.batch = 8, .time = 1}), cases.delta_net<float>({.time = 1});
}

// A row that is not read may hold anything; one that resets forgets it, one that fades does not.
TEST(EmulatedStep, ForgetsWhatIsNoNumberWhereItResets) { cases.forget_in_one_token(); }

TEST(EmulatedStep, ChangesAStateInPlace) {
  support::chunk_numbers<float> const x{.shape = {.batch = 2, .time = 1}};
  auto const op = x.gated_delta_net();
  recurrent_state<float> start(op), apart(op);
  for (float& s : start.values()) s = 0.5f;
  std::vector<float> y(x.value.size()), other(y);
  auto const output = [&](std::vector<float>& of) {
    return sequence_view<float>(of.data(), 2, 1, 2, 17);
  };
  run<config>({}, op, output(y),
              run_options<float>{.initial = std::as_const(start), .final = apart});
  run<config>({}, op, output(other),
              run_options<float>{.initial = std::as_const(start), .final = start});
  EXPECT_EQ(y, other);
  EXPECT_EQ(std::vector(start.values().begin(), start.values().end()),
            std::vector(apart.values().begin(), apart.values().end()));
  EXPECT_EQ(start.positions()[1], 1);
}

// Each barrier of the threads of a block is needed.
TEST(EmulatedStep, SeesAMissingBarrierWhicheverItIs) {
  support::chunk_numbers<float> const x{.shape = {.time = 1, .heads = 1}};
  auto const op = x.rwkv7();
  std::vector<float> y(x.value.size());
  auto const run_without = [&](int barrier) {
    impl::run_named<config>(support::queue_without<cuda::impl::step_kernel>(barrier), op,
                            sequence_view<float>(y.data(), 1, 1, 1, 17), run_options<float>{});
  };
  EXPECT_NO_THROW(run_without(-1));
  for (int barrier = 0; barrier < 3; ++barrier)
    EXPECT_THROW(run_without(barrier), machine_fault) << barrier;
}

}  // namespace
}  // namespace wane::testing
