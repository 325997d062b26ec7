// Many rows fit the shared memory of a block, and what is then found twice is found right.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cuda/scan/adjoint_cases.hpp"
#include "cuda/scan/cases.hpp"
#include "cuda/scan/retention_cases.hpp"
#include "support/memory_problems.hpp"
#include "wane/testing/emulated_run.hpp"

namespace wane::testing {
namespace {

// What a block may have on sm_80, on sm_90, and on every device since.
constexpr std::size_t on_sm_80 = 163 * 1024, on_every_device = 99 * 1024;

// The most that a block of a scan of run and adjoint takes, as they are launched.
template <class P>
std::size_t most_bytes_of(P problem) {
  auto const op = problem.make(0, problem.time());
  using T = accumulate_type<decltype(op)>;
  recurrence_shape const s = op.shape();
  std::vector<T> y(static_cast<std::size_t>(s.batch * s.time * s.heads * s.columns));
  sequence_view<T> const output(y.data(), s.batch, s.time, s.heads, s.columns);
  using config = cuda::impl::default_scan_config<T>;
  impl::lent_memory forward(cuda::impl::scan_workspace_bytes<config>(op, run_options<T>{}));
  using adjoint_config = cuda::impl::default_adjoint_config<T>;
  adjoint_options<T> const options;
  impl::lent_memory backward(cuda::impl::scan_adjoint_workspace_bytes<adjoint_config>(op, options));
  auto const run = cuda::impl::scan_call<config>(op, output, forward, run_options<T>{});
  auto const adjoint = cuda::impl::scan_adjoint_call<adjoint_config>(
      op, output, problem.gradients(), backward, options);
  return std::max({run.layout.bytes, adjoint.forward.layout.bytes, adjoint.backward.layout.bytes});
}

template <class T>
support::retention_problem<T> retention_of(std::int64_t nodes) {
  return {.batch = 1, .tokens = 500, .heads = 1, .columns = 64, .nodes = nodes};
}

TEST(SharedMemory, OfRetentionFitsADevice) {
  for (std::int64_t nodes : {16, 19}) {
    EXPECT_LE(most_bytes_of(retention_of<float>(nodes)), on_every_device) << nodes;
    EXPECT_LE(most_bytes_of(retention_of<double>(nodes)), on_sm_80) << nodes;
  }
}

TEST(SharedMemory, OfMemoriesWithKeysFitsADeviceForManyRows) {
  EXPECT_LE(most_bytes_of(gla_problem<float>({1, 500, 1, 64, 64})), on_sm_80);
  EXPECT_LE(most_bytes_of(gla_problem<double>({1, 500, 1, 32, 64})), on_sm_80);
}

// As docs/cuda.md says of chunks.
template <class Op, class Stored, int Rows>
double kilobytes_of_chunks() {
  using config = cuda::impl::chunk_config<cuda::impl::device_warps, Rows>;
  return static_cast<double>(cuda::impl::chunk_layout::of<config, token_of<Op>, Stored>().bytes) /
         1024;
}
TEST(SharedMemory, OfChunksFitsADevice) {
  EXPECT_NEAR((kilobytes_of_chunks<gla<bfloat16, token_view<bfloat16 const>>, bfloat16, 256>()), 35,
              0.5);
  EXPECT_NEAR((kilobytes_of_chunks<kimi_delta_attention<float>, float, 128>()), 90, 0.5);
  EXPECT_NEAR((kilobytes_of_chunks<rwkv7<float>, float, 128>()), 114, 0.5);
  EXPECT_NEAR((kilobytes_of_chunks<rwkv7<float>, float, 256>()), 211, 0.5);
}

template <int Threads>
double kilobytes_of_penalty(bool given) {
  using config = cuda::impl::penalty_config<Threads>;
  return static_cast<double>(cuda::impl::penalty_layout::of<config>(Threads, given).bytes) / 1024;
}
TEST(SharedMemory, OfPenaltiesFitsADevice) {
  EXPECT_NEAR(kilobytes_of_penalty<64>(false), 15, 0.5);
  EXPECT_NEAR(kilobytes_of_penalty<128>(false), 45, 0.5);
  EXPECT_NEAR(kilobytes_of_penalty<256>(false), 153, 0.5);
  EXPECT_NEAR(kilobytes_of_penalty<64>(true), 21, 0.5);
  EXPECT_NEAR(kilobytes_of_penalty<128>(true), 56, 0.5);
  EXPECT_NEAR(kilobytes_of_penalty<256>(true), 174, 0.5);
}

// Where there is room, nothing is found twice.
TEST(SharedMemory, IsUsedForFewRows) {
  using config = cuda::impl::default_adjoint_config<float>;
  auto const few = bank_problem<float>(1, 500, 1, 4, 64).make(0, 500);
  auto const many = retention_of<float>(16).make(0, 500);
  auto const layout = [](auto const& op) {
    return cuda::impl::shared_layout::of<config, float>(
        cuda::impl::plan_scan<config>(op, 1, false), cuda::impl::staged_bytes<config>(op), 0, true);
  };
  EXPECT_TRUE(layout(few).keeps_threads);
  EXPECT_FALSE(layout(many).keeps_threads);
}

// No memory to keep anything in.
using keeps_nothing = emulated_runner<cuda::impl::scan_config<64, 3, 2, 64, 512, 0>>;
keeps_nothing const runner({.order = turns::last_taken});

TEST(ScanThatKeepsNothing, IsRight) {
  support::scan_cases<keeps_nothing> const cases{runner};
  cases.are_right_for_banks();
  for (index columns : {1, 40})
    cases.expect_linear<float>(
        {.time = 400, .heads = 2, .columns = columns, .starts = {0, 0, 1, 64, 400}});
}
TEST(ScanThatKeepsNothing, HasTheAdjointOfTheCpu) {
  support::adjoint_cases<keeps_nothing> const cases{runner};
  cases.are_those_of_the_cpu();
  cases.are_those_of_the_cpu_for_packed_sequences();
  cases.expect_as_on_the_cpu(gla_problem<double>({2, 100, 2, 3, 40}));
}
TEST(ScanThatKeepsNothing, IsRightInOneWarpAndInOrder) {
  auto const expect = [](auto const& other) {
    support::adjoint_cases<std::remove_cvref_t<decltype(other)>> const cases{other};
    cases.expect_as_on_the_cpu(bank_problem<double>(1, 300, 2, 4, 40));
    cases.expect_as_on_the_cpu(gla_problem<double>({2, 100, 2, 3, 40}));
  };
  expect(emulated_runner<cuda::impl::scan_config<32, 1, 1, 64, 512, 0>>());
  expect(emulated_runner<cuda::impl::scan_config<64, 3, 2, 64, 1, 0>>());
}
TEST(ScanThatKeepsNothing, IsThatOfTheOracleForRetention) {
  support::retention_cases<keeps_nothing> const cases{runner};
  cases.are_right<float>();
}

// A state that counts how often it is read.
struct counted {
  static inline index reads = 0;
  double value = 0;
  explicit counted(double x) : value(x) {}
  explicit operator double() const { return ++reads, value; }
};

// So the final state may take the place of the initial one.
TEST(ScanThatKeepsNothing, ReadsTheInitialStateOnce) {
  support::retention_problem<double> const p{.batch = 1, .tokens = 200, .heads = 2, .columns = 40};
  auto const op = p.make(0, 200);
  std::vector<counted> state(2 * 8 * 40, counted(1));
  std::vector<double> y(p.value);
  run_options<counted> options;
  options.initial = {view<counted const, 4>(state.data(), 1, 2, 8, 40)};
  counted::reads = 0;
  runner(op, p.values(y), options);
  EXPECT_EQ(counted::reads, 2 * 8 * 40);
}

}  // namespace
}  // namespace wane::testing
