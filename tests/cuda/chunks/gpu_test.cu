// The chunk kernels of wane::cuda on a GPU: the bodies of chunk_emulated_test.cpp and of
// chunk_adjoint_emulated_test.cpp for real.
// SPDX-License-Identifier: MIT
#include "cuda/chunks/adjoint_cases.hpp"
#include "support/expect_error.hpp"
#include "support/on_device.cuh"

namespace {

// One operator of each kind, each in another type: a kernel takes nvcc ten seconds.
class GpuChunks : public support::OnDevice {
 protected:
  support::chunk_cases<support::device_runner> cases;
  support::chunk_cases<support::device_runner_of<64>> narrow;
  support::chunk_cases<support::device_runner_of<128>> wide;
  support::chunk_adjoint_cases<support::device_runner> back;
  support::chunk_adjoint_cases<support::device_runner_of<128>> wide_back;
};

TEST_F(GpuChunks, AreTheRecurrenceOfAHeadThatFades) {
  cases.gated_delta_net<float>({.time = 1, .rows = 16, .columns = 1});
  cases.gated_delta_net<float>({.batch = 2, .time = 301, .heads = 3, .rows = 64, .columns = 64});
  cases.gated_delta_net<float>({.time = 100, .rows = 61, .columns = 5}, true);
  cases.gated_delta_net<float>({.time = 50, .rows = 256, .columns = 130});
}
TEST_F(GpuChunks, AreTheRecurrenceOfRowsThatFadeAndEraseElsewhere) {
  narrow.rwkv7<wane::float16>({.batch = 2, .time = 301, .heads = 3, .rows = 64, .columns = 64});
  narrow.rwkv7<wane::float16>({.time = 100, .rows = 61, .columns = 5}, true);
}
TEST_F(GpuChunks, AreTheRecurrenceOfRowsThatFadeInBfloat16) {
  wide.kimi<wane::bfloat16>({.batch = 2, .time = 301, .heads = 3, .rows = 128, .columns = 128});
  wide.kimi<wane::bfloat16>({.time = 100, .rows = 101, .columns = 5}, true);
}
TEST_F(GpuChunks, AreTheRecurrenceInSegments) {
  cases.gated_delta_net<float>({.time = 3001, .heads = 1, .rows = 64, .columns = 64});
  narrow.rwkv7<wane::float16>({.time = 3001, .heads = 2, .rows = 64, .columns = 70});
}
TEST_F(GpuChunks, AreATokenOfTheRecurrence) {
  cases.gated_delta_net<float>({.batch = 70, .time = 1, .rows = 64, .columns = 64});
  cases.gated_delta_net<float>({.batch = 3, .time = 1, .rows = 200, .columns = 130});
  narrow.rwkv7<wane::float16>({.batch = 3, .time = 1, .rows = 64, .columns = 70});
  cases.forget_in_one_token();
}
TEST_F(GpuChunks, HaveTheAdjointOfTheRecurrence) {
  back.gated_delta_net<float>({.time = 1, .rows = 16, .columns = 1});
  back.gated_delta_net<float>({.batch = 2, .time = 301, .heads = 3, .rows = 64, .columns = 64});
  back.gated_delta_net<float>({.time = 100, .rows = 61, .columns = 5}, true);
  back.gated_delta_net<float>({.time = 50, .rows = 256, .columns = 130});
  back.gated_delta_net<float>({.time = 3001, .heads = 1, .rows = 64, .columns = 64});
}
TEST_F(GpuChunks, HaveTheAdjointOfRowsThatFadeInBfloat16) {
  wide_back.kimi<wane::bfloat16>(
      {.batch = 2, .time = 301, .heads = 3, .rows = 128, .columns = 128});
}
TEST_F(GpuChunks, ForgetWhatIsNoNumberWhereTheyReset) {
  cases.forget_what_is_no_number(), cases.keep_what_is_no_number();
}

// Needs no device.
TEST(ChunksOfKnownRows, TakeNoMore) {
  support::chunk_numbers<float> const x{.shape = {.rows = 65}};
  std::vector<float> y(37 * 2 * 17);
  wane::sequence_view<float> const output(y.data(), 1, 37, 2, 17);
  support::expect_error({"rows 65", "at most 64"}, [&] {
    wane::cuda::run<64>(wane::cuda::stream{}, x.gated_delta_net(), output, {});
  });
}

}  // namespace
