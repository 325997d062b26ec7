// The scan of wane::cuda on a GPU: the bodies of scan_emulated_test.cpp for real.
// SPDX-License-Identifier: MIT
#include "cuda/scan/cases.hpp"
#include "support/on_device.cuh"

namespace {

using support::index;

class GpuScan : public support::OnDevice {
 protected:
  support::scan_cases<support::device_runner> cases;
};

TEST_F(GpuScan, IsItsFormulaForRaggedSizes) { cases.are_right_for_ragged_sizes(); }
TEST_F(GpuScan, IsItsFormulaInEveryLayoutAndDirection) {
  cases.are_right_in_every_layout_and_direction();
}
TEST_F(GpuScan, IsItsFormulaForPackedSequences) { cases.are_right_for_packed_sequences(); }
TEST_F(GpuScan, IsItsFormulaForBanks) { cases.are_right_for_banks(); }
TEST_F(GpuScan, KeepsSlowDecaysOverLongTimes) { cases.keep_slow_decays(); }

TEST_F(GpuScan, IsItsFormulaForManyTilesAndManyLines) {
  cases.expect_linear<float>({.time = 2000003});
  cases.expect_linear<float>({.batch = 2, .time = 60001, .columns = 33});
  cases.expect_linear<float>({.batch = 40, .time = 301, .heads = 30, .columns = 33});
}

TEST_F(GpuScan, GivesTheSameBitsEachTime) {
  for (index columns : {1, 5, 64}) {
    auto const outcome = [&] {
      support::linear_case<wane::decay_as::log, float> run(
          {.batch = 2, .time = 400000 / columns, .columns = columns});
      run.run_by(support::device_runner{});
      auto values = run.final.values();
      run.output.for_each([&](auto... at) { values.push_back(run.output(at...)); });
      return values;
    };
    auto const first = outcome();
    for (int again = 0; again < 5; ++again) EXPECT_EQ(outcome(), first) << columns << " columns";
  }
}

TEST_F(GpuScan, IsCapturedInAGraph) {
  support::linear_case<wane::decay_as::log, float> run({.time = 50000, .columns = 3});
  support::device_copies copies;
  auto const op = run.op().with_tensors(copies);
  auto const output = copies.of(run.output.view());
  std::size_t const bytes = wane::cuda::workspace_bytes(op);
  wane::cuda::workspace const memory{copies.allocate(bytes), bytes};
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t work = nullptr;
  using wane::cuda::throw_on_error;
  throw_on_error(cudaStreamCreate(&stream), "cudaStreamCreate");
  throw_on_error(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
                 "cudaStreamBeginCapture");
  wane::cuda::run(wane::cuda::stream{stream}, op, output, memory);
  throw_on_error(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  throw_on_error(cudaGraphInstantiate(&work, graph, 0), "cudaGraphInstantiate");
  for (int n = 0; n < 3; ++n) throw_on_error(cudaGraphLaunch(work, stream), "cudaGraphLaunch");
  throw_on_error(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  copies.bring_back(run.output.view().data);
  run.shape.carries = false;
  for (float& s : run.initial.values()) s = 0;
  support::nearness near;
  run.template naive<double>(
      [&](index b, index t, index h, index c, double y) {
        near.add(static_cast<double>(run.output(b, t, h, c)), y);
      },
      [](auto...) {});
  EXPECT_LT(near.both(), support::bound_of<float>(50000));
  throw_on_error(cudaGraphExecDestroy(work), "cudaGraphExecDestroy");
  throw_on_error(cudaGraphDestroy(graph), "cudaGraphDestroy");
  throw_on_error(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

}  // namespace
