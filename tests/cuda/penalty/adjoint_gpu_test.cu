// The adjoint of penalised memories on a GPU: the bodies of penalty_adjoint_emulated_test.cpp for
// real.
// SPDX-License-Identifier: MIT
#include "cuda/chunks/adjoint_cases.hpp"
#include "support/on_device.cuh"

namespace {

using enum wane::write_rule;

class GpuPenaltyAdjoint : public support::OnDevice {
 protected:
  support::chunk_adjoint_cases<support::device_runner> cases;
};

TEST_F(GpuPenaltyAdjoint, IsThatOfTheRecurrence) {
  cases.vla<float, rls>({});
  cases.vla<float, rls>({.batch = 2, .time = 301, .heads = 3, .rows = 64, .columns = 64});
  cases.vla<float, rls>({.time = 100, .rows = 128, .columns = 70});
  cases.vla<float, rls>({.time = 3001, .heads = 2, .rows = 64, .columns = 64});
}
TEST_F(GpuPenaltyAdjoint, IsThatOfTheRecurrenceWhereTheyFade) {
  for (bool given : {false, true})
    cases.fading_vla<float, unit>({.time = 301, .rows = 61, .columns = 5}, true, given);
}
TEST_F(GpuPenaltyAdjoint, IsThatOfPackedSequences) { cases.pack_penalised<float>(); }

}  // namespace
