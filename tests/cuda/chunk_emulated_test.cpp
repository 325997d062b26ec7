// The chunk kernel of wane::cuda on an emulated GPU: as the recurrence in double, in order.
// SPDX-License-Identifier: MIT
#include "cuda/chunk_cases.hpp"
#include "cuda/strictly_causal_cases.hpp"
#include "support/laws_hold.hpp"
#include "support/memory_problems.hpp"
#include "wane/testing/emulated_run.hpp"
#include "wane/testing/laws.hpp"

namespace wane::testing {
namespace {

template <int Warps, int MostRows>
using chunks = emulated_runner<cuda::chunk_config<Warps, MostRows>>;

template <class Io>
class EmulatedChunks : public ::testing::Test {
 protected:
  support::chunk_cases<chunks<1, 16>> one_warp;
  support::chunk_cases<chunks<2, 80>> two_warps;
};
using Inputs = ::testing::Types<float, bfloat16, float16>;
TYPED_TEST_SUITE(EmulatedChunks, Inputs);

TYPED_TEST(EmulatedChunks, AreTheRecurrence) {
  auto const all = [](auto const& cases, support::chunk_shape const& shape) {
    cases.template gla<TypeParam>(shape), cases.template retnet<TypeParam>(shape);
    cases.template mamba2<TypeParam>(shape), cases.template gated_delta_net<TypeParam>(shape);
    cases.template kimi<TypeParam>(shape), cases.template rwkv7<TypeParam>(shape);
  };
  all(this->one_warp, {});
  all(this->one_warp, {.time = 1, .heads = 1, .rows = 16, .columns = 1});
  all(this->two_warps, {.batch = 2, .time = 18, .heads = 1, .rows = 65, .columns = 33});
}
TYPED_TEST(EmulatedChunks, AreTheRecurrenceHoweverStrongDecaysAre) {
  this->one_warp.template gla<TypeParam>({}, true);
  this->one_warp.template gated_delta_net<TypeParam>({}, true);
  this->one_warp.template kimi<TypeParam>({}, true);
  this->one_warp.template rwkv7<TypeParam>({}, true);
}
TYPED_TEST(EmulatedChunks, TakeSequencesEndToEnd) { this->one_warp.template pack<TypeParam>(); }

TEST(EmulatedChunksThatReset, ForgetWhatIsNoNumber) {
  support::chunk_cases<chunks<2, 16>>().forget_what_is_no_number();
  support::chunk_cases<chunks<2, 16>>().keep_what_is_no_number();
}

TEST(EmulatedChunksInEveryOrder, GiveTheSameBits) {
  support::chunk_numbers<float> const x{.shape = {.batch = 2}};
  auto const outputs = [&](emulated_gpu const& gpu) {
    std::vector<float> y(x.value.size());
    run<cuda::chunk_config<1, 16>>(gpu, x.kimi(), sequence_view<float>(y.data(), 2, 37, 2, 17));
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
    if constexpr (cuda::chunkable<Op>)
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
using Memories = ::testing::Types<gla_problem<float>, retnet_problem<float>,
                                  delta_net_problem<float>, gated_delta_net_problem<float>,
                                  rwkv7_problem<float>, vla_delta_net_problem<float>>;
TYPED_TEST_SUITE(EmulatedChunkLaws, Memories);

TYPED_TEST(EmulatedChunkLaws, Hold) {
  chunks<1, 16> const runner({.order = turns::last_taken});
  support::expect_to_hold(check_laws(TypeParam({1, 33, 2, 5, 17, 1}), 1e-6, 1, runner));
}

}  // namespace
}  // namespace wane::testing
