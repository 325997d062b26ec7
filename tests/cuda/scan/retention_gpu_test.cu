// retention by wane::cuda on a GPU: the bodies of retention_emulated_test.cpp for real.
// SPDX-License-Identifier: MIT
#include "cuda/scan/retention_cases.hpp"
#include "support/on_device.cuh"

namespace {

class GpuRetention : public support::OnDevice {
 protected:
  support::retention_cases<support::device_runner> cases;
};

TEST_F(GpuRetention, IsThatOfTheOracle) { cases.are_right<float>(); }
TEST_F(GpuRetention, IsThatOfTheOracleInDouble) { cases.are_right<double>(); }
TEST_F(GpuRetention, IsThatOfTheOracleInBfloat16) { cases.are_right<wane::bfloat16>(); }
TEST_F(GpuRetention, IsThatOfTheOracleForManyTiles) {
  cases.expect_right(
      support::retention_problem<float>{.batch = 1, .tokens = 20000, .heads = 1, .columns = 40},
      wane::direction::forward);
}

}  // namespace
