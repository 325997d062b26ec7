// laplace by wane::cuda on a GPU: the bodies of laplace_emulated_test.cpp for real.
// SPDX-License-Identifier: MIT
#include "cuda/scan/laplace_cases.hpp"
#include "support/on_device.cuh"

namespace {

using wane::spectra::window_shape;

class GpuLaplace : public support::OnDevice {
 protected:
  support::laplace_cases<support::device_runner> cases;
};

TEST_F(GpuLaplace, IsThatOfTheOracle) { cases.are_right<float, window_shape::none>(); }
TEST_F(GpuLaplace, IsThatOfTheOracleInDouble) {
  cases.expect_right<double, window_shape::gaussian>({.tokens = 70}, wane::direction::forward);
  cases.are_right<double, window_shape::exponential>();
}
TEST_F(GpuLaplace, IsThatOfTheOracleInBfloat16) {
  cases.are_right<wane::bfloat16, window_shape::none>();
}
TEST_F(GpuLaplace, IsThatOfTheOracleForManyTiles) {
  cases.expect_right<float, window_shape::none>(
      {.batch = 1, .tokens = 20000, .heads = 1, .columns = 40}, wane::direction::forward);
}
TEST_F(GpuLaplace, TakesAMaskOfEachSequence) {
  cases.take_a_mask_of_each_sequence<float>();
  cases.take_a_mask_of_each_sequence<double>();
}

}  // namespace
