// The kernels of penalties on a GPU: the bodies of penalty/emulated_test.cpp and of
// penalty/adjoint_emulated_test.cpp for real. One file: the adjoint has the kernels of a run.
// SPDX-License-Identifier: MIT
#include "cuda/chunks/adjoint_cases.hpp"
#include "cuda/penalty/cases.hpp"
#include "support/on_device.cuh"

namespace {

using enum wane::write_rule;

// Two operators, which take nvcc minutes; the one that fades has the kernels of 64 rows.
class GpuPenalties : public support::OnDevice {
 protected:
  using narrow_runner = support::device_runner_of<64>;
  support::penalty_cases<support::device_runner> cases;
  support::penalty_cases<narrow_runner> narrow;
  support::chunk_adjoint_cases<support::device_runner> back;
  support::chunk_adjoint_cases<narrow_runner> narrow_back;
};

TEST_F(GpuPenalties, AreThoseOfTheRecurrence) {
  cases.vla<float, rls>({});
  cases.vla<float, rls>({.batch = 2, .time = 301, .heads = 3, .rows = 64, .columns = 64});
  cases.vla<float, rls>({.time = 100, .rows = 128, .columns = 70});
  cases.vla<float, rls>({.time = 100, .rows = 250, .columns = 5});
  cases.vla<float, rls>({.batch = 70, .time = 1, .rows = 64, .columns = 64});
}
TEST_F(GpuPenalties, AreThoseOfTheRecurrenceInSegments) {
  cases.vla<float, rls>({.time = 3001, .heads = 2, .rows = 64, .columns = 64});
}
TEST_F(GpuPenalties, AreThoseOfTheRecurrenceWhereTheyFade) {
  for (bool given : {false, true})
    narrow.fading_vla<float, unit>({.time = 301, .rows = 61, .columns = 5}, true, given);
}
TEST_F(GpuPenalties, AreThoseOfPackedSequences) { narrow.pack_penalised<float>(); }

TEST_F(GpuPenalties, HaveTheAdjointOfTheRecurrence) {
  back.vla<float, rls>({});
  back.vla<float, rls>({.batch = 2, .time = 301, .heads = 3, .rows = 64, .columns = 64});
  back.vla<float, rls>({.time = 100, .rows = 128, .columns = 70});
  back.vla<float, rls>({.time = 3001, .heads = 2, .rows = 64, .columns = 64});
}
TEST_F(GpuPenalties, HaveTheAdjointOfTheRecurrenceWhereTheyFade) {
  for (bool given : {false, true})
    narrow_back.fading_vla<float, unit>({.time = 301, .rows = 61, .columns = 5}, true, given);
}
TEST_F(GpuPenalties, HaveTheAdjointOfPackedSequences) { narrow_back.pack_penalised<float>(); }

}  // namespace
