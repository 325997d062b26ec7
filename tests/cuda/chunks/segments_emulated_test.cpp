// Sequences that the chunk kernel of wane::cuda cuts in segments, on an emulated GPU.
// SPDX-License-Identifier: MIT
#include "cuda/chunks/adjoint_cases.hpp"
#include "wane/testing/emulated_run.hpp"

namespace wane::testing {
namespace {

// Segments of a chunk.
using cut = cuda::impl::chunk_config<1, 32, 64, 1>;
support::chunk_cases<emulated_runner<cut>> const cases;
support::chunk_adjoint_cases<emulated_runner<cut>> const back;
support::chunk_shape const shape{.time = 150, .heads = 2, .rows = 20, .columns = 20};

TEST(EmulatedChunksInSegments, AreCutWhereBlocksAreFew) {
  support::chunk_numbers<float> const x{.shape = shape};
  auto const op = x.gla();
  impl::lent_memory memory(cuda::impl::chunk_workspace_bytes<cut>(op, run_options<float>{}));
  std::vector<float> y(x.value.size());
  sequence_view<float> const output(y.data(), 1, 150, 2, 20);
  auto const segments =
      cuda::impl::chunk_call<cut>(op, output, memory, run_options<float>{}).segments;
  EXPECT_EQ(segments.count, 10);
  EXPECT_EQ(segments.tokens, 16);
  impl::lent_memory less(cuda::impl::bytes_of_counters);
  EXPECT_THROW(cuda::impl::chunk_call<cut>(op, output, less, run_options<float>{}), error);
}
TEST(EmulatedChunksInSegments, AreTheRecurrence) {
  cases.gla<float>(shape), cases.mamba2<float>(shape), cases.gated_delta_net<float>(shape);
  cases.rwkv7<float>(shape), cases.gated_delta_net<bfloat16>(shape);
}
TEST(EmulatedChunksInSegments, AreTheRecurrenceHoweverStrongDecaysAre) {
  cases.rwkv7<float>({.time = 70, .heads = 1}, true);
}
TEST(EmulatedChunksInSegments, HaveTheAdjointOfTheRecurrence) {
  back.gla<float>(shape), back.mamba2<float>(shape), back.gated_delta_net<float>(shape);
  back.rwkv7<float>(shape), back.gated_delta_net<bfloat16>(shape);
}
TEST(EmulatedChunksInSegments, HaveTheAdjointOfTheRecurrenceHoweverStrongDecaysAre) {
  back.rwkv7<float>({.time = 70, .heads = 1}, true);
}
// Whichever blocks go first.
TEST(EmulatedChunksInSegments, ChangeAStateInPlace) {
  support::chunk_numbers<float> const x{.shape = shape};
  auto const op = x.gated_delta_net();
  auto const results = [&](emulated_gpu const& gpu, bool in_place) {
    recurrent_state<float> state(op), other(op);
    for (float& s : state.values()) s = 0.5f;
    std::vector<float> y(x.value.size());
    run<cut>(
        gpu, op, sequence_view<float>(y.data(), 1, 150, 2, 20),
        run_options<float>{.initial = std::as_const(state), .final = in_place ? state : other});
    auto const& last = (in_place ? state : other).values();
    y.insert(y.end(), last.begin(), last.end());
    return y;
  };
  auto const apart = results({}, false);
  for (auto order : {turns::first_taken, turns::last_taken})
    EXPECT_EQ(results({7, 3, order}, true), apart);
}
TEST(EmulatedChunksInSegments, ForgetWhatIsNoNumber) {
  support::chunk_cases<emulated_runner<cuda::impl::chunk_config<2, 16, 64, 1>>> const two;
  two.forget_what_is_no_number(), two.keep_what_is_no_number();
}

}  // namespace
}  // namespace wane::testing
