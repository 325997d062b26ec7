// The kernels of penalties on a GPU: the bodies of penalty_emulated_test.cpp for real.
// SPDX-License-Identifier: MIT
#include "cuda/penalty/cases.hpp"
#include "support/on_device.cuh"

namespace {

using enum wane::write_rule;

// Two operators: each takes nvcc a minute.
class GpuPenalties : public support::OnDevice {
 protected:
  support::penalty_cases<support::device_runner> cases;
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
    cases.fading_vla<float, unit>({.time = 301, .rows = 61, .columns = 5}, true, given);
}
TEST_F(GpuPenalties, AreThoseOfPackedSequences) { cases.pack_penalised<float>(); }

}  // namespace
