// The chunk kernel of wane::cuda on an emulated GPU: as the recurrence in double, in order.
// SPDX-License-Identifier: MIT
#include "cuda/chunks/cases.hpp"
#include "cuda/strictly_causal_cases.hpp"
#include "support/laws_hold.hpp"
#include "support/memory_problems.hpp"
#include "wane/testing/emulated_run.hpp"
#include "wane/testing/laws.hpp"

namespace wane::testing {
namespace {

template <int Warps, int MostRows>
using chunks = emulated_runner<cuda::impl::chunk_config<Warps, MostRows>>;

support::chunk_cases<chunks<1, 16>> const one_warp;
support::chunk_cases<chunks<2, 80>> const two_warps;
support::chunk_shape const plain, smallest{.time = 1, .heads = 1, .rows = 16, .columns = 1},
    many_rows{.batch = 2, .time = 18, .heads = 1, .rows = 65, .columns = 33};

template <class Io>
void expect_all(support::chunk_shape const& shape) {
  one_warp.gla<Io>(shape), one_warp.retnet<Io>(shape), one_warp.mamba2<Io>(shape);
  one_warp.gated_delta_net<Io>(shape), one_warp.kimi<Io>(shape), one_warp.rwkv7<Io>(shape);
}
TEST(EmulatedChunks, AreTheRecurrence) { expect_all<float>(plain), expect_all<float>(smallest); }
TEST(EmulatedChunks, AreTheRecurrenceWhereNothingIsPadded) {
  expect_all<float>({.rows = 16, .columns = 16}), expect_all<bfloat16>({.rows = 16, .columns = 32});
}
TEST(EmulatedChunks, AreTheRecurrenceInBfloat16) { expect_all<bfloat16>(plain); }
TEST(EmulatedChunks, AreTheRecurrenceInFloat16) {
  one_warp.gated_delta_net<float16>(plain), one_warp.rwkv7<float16>(plain);
}
TEST(EmulatedChunks, AreTheRecurrenceWithManyRows) {
  two_warps.gla<float>(many_rows), two_warps.gated_delta_net<bfloat16>(many_rows);
  two_warps.rwkv7<float>(many_rows);
}
// More than a warp has registers for.
TEST(EmulatedChunks, AreTheRecurrenceWithRowsInMemory) {
  support::chunk_shape const rows{.batch = 2, .time = 18, .heads = 1, .rows = 130, .columns = 5};
  support::chunk_cases<chunks<1, 144>> const cases;
  cases.gated_delta_net<bfloat16>(rows), cases.kimi<float>(rows);
}
TEST(EmulatedChunks, AreTheRecurrenceHoweverStrongDecaysAre) {
  one_warp.gla<float>(plain, true), one_warp.gated_delta_net<float>(plain, true);
  one_warp.kimi<float>(plain, true), one_warp.rwkv7<float>(plain, true);
  one_warp.gla<bfloat16>(plain, true), one_warp.kimi<bfloat16>(plain, true);
  one_warp.gated_delta_net<float16>(plain, true), one_warp.rwkv7<float16>(plain, true);
}
TEST(EmulatedChunks, TakeSequencesEndToEnd) { one_warp.pack<float>(), one_warp.pack<bfloat16>(); }

TEST(EmulatedChunksThatReset, ForgetWhatIsNoNumber) {
  support::chunk_cases<chunks<2, 16>>().forget_what_is_no_number();
  support::chunk_cases<chunks<2, 16>>().forget_in_rows();
  support::chunk_cases<chunks<2, 16>>().keep_what_is_no_number();
}
TEST(EmulatedChunks, KeepDecaysThatAreNoNumberBehind) {
  one_warp.keep_decays_that_are_no_number_behind();
}

TEST(EmulatedChunksInEveryOrder, GiveTheSameBits) {
  support::chunk_numbers<float> const x{.shape = {.batch = 2}};
  auto const outputs = [&](emulated_gpu const& gpu) {
    std::vector<float> y(x.value.size());
    run<cuda::impl::chunk_config<1, 16>>(gpu, x.kimi(),
                                         sequence_view<float>(y.data(), 2, 37, 2, 17));
    return y;
  };
  auto const first = outputs({});
  EXPECT_EQ(first, outputs({1, 2, turns::first_taken}));
  EXPECT_EQ(first, outputs({7, 3, turns::last_taken}));
}

// In chunks, where there are keys; all else on the CPU.
struct in_chunks {
  template <class Op>
  void operator()(Op const& op, auto const& y, auto const&... more) const {
    if constexpr (cuda::impl::chunkable<Op>)
      chunks<1, 16>()(op, y, more...);
    else
      support::in_order()(op, y, more...);
  }
};
TEST(EmulatedChunksThatReadFirst, AreSumsOverPairs) {
  support::expect_strictly_causal<float>(in_chunks{});
}

template <class Problem>
class EmulatedChunkLaws : public ::testing::Test {};
using Memories =
    ::testing::Types<gla_problem<float>, delta_net_problem<float>, gated_delta_net_problem<float>,
                     rwkv7_problem<float>, vla_delta_net_problem<float>>;
TYPED_TEST_SUITE(EmulatedChunkLaws, Memories);

TYPED_TEST(EmulatedChunkLaws, Hold) {
  chunks<1, 16> const runner({.order = turns::last_taken});
  support::expect_to_hold(check_laws(TypeParam({1, 33, 2, 5, 17, 1}), 1e-6, 1, runner));
}

}  // namespace
}  // namespace wane::testing
