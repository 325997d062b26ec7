// The adjoint in chunks of wane::cuda on an emulated GPU: as that of the CPU in double.
// SPDX-License-Identifier: MIT
#include "cuda/chunks/adjoint_cases.hpp"
#include "wane/testing/emulated_run.hpp"

namespace wane::testing {
namespace {

using one_warp = emulated_runner<cuda::impl::chunk_config<1, 16>>;
using two_warps = emulated_runner<cuda::impl::chunk_config<2, 80>>;
support::chunk_adjoint_cases<one_warp> const one;
support::chunk_adjoint_cases<two_warps> const two;

// Two pieces of columns and a part of one; a token; rows in three parts.
support::chunk_shape const three_pieces{.columns = 40},
    smallest{.time = 1, .rows = 16, .columns = 1},
    many_rows{.batch = 2, .time = 18, .heads = 1, .rows = 65, .columns = 33};

TEST(EmulatedChunkAdjoint, IsThatOfTheRecurrence) {
  for (auto const& shape : {three_pieces, smallest}) {
    one.gla<float>(shape), one.mamba2<float>(shape), one.delta_net<float>(shape);
    one.vla_delta_net<float>(shape), one.gated_delta_net<float>(shape);
    one.kimi<float>(shape), one.rwkv7<float>(shape);
  }
  one.gla<float>({.time = 0});
}
TEST(EmulatedChunkAdjoint, IsThatOfTheRecurrenceWithManyRows) {
  two.gated_delta_net<float>(many_rows), two.rwkv7<float>(many_rows);
}
// More than a warp has registers for.
TEST(EmulatedChunkAdjoint, IsThatOfTheRecurrenceWithRowsInMemory) {
  support::chunk_adjoint_cases<emulated_runner<cuda::impl::chunk_config<1, 144>>>().kimi<float>(
      {.batch = 2, .time = 18, .heads = 1, .rows = 130, .columns = 5});
}
TEST(EmulatedChunkAdjoint, IsThatOfTheRecurrenceInSixteenBits) {
  one.gated_delta_net<bfloat16>(three_pieces), one.rwkv7<bfloat16>(three_pieces);
  one.kimi<float16>(three_pieces);
}
TEST(EmulatedChunkAdjoint, IsThatOfTheRecurrenceHoweverStrongDecaysAre) {
  one.gla<float>({}, true), one.gated_delta_net<float>({}, true);
  one.kimi<float>({}, true), one.rwkv7<float>({}, true);
  one.rwkv7<bfloat16>({}, true);
}
TEST(EmulatedChunkAdjoint, TakesSequencesEndToEnd) { one.pack<float>(); }

}  // namespace
}  // namespace wane::testing
