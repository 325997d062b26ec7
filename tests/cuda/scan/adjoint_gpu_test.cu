// The adjoint of wane::cuda on a GPU: the bodies of adjoint_emulated_test.cpp for real.
// SPDX-License-Identifier: MIT
#include <complex>

#include "cuda/scan/adjoint_cases.hpp"
#include "support/on_device.cuh"

namespace {

class GpuAdjoint : public support::OnDevice {
 protected:
  support::adjoint_cases<support::device_runner> cases;
};

TEST_F(GpuAdjoint, IsThatOfTheCpu) { cases.are_those_of_the_cpu(); }
TEST_F(GpuAdjoint, IsThatOfTheCpuForPackedSequences) {
  cases.are_those_of_the_cpu_for_packed_sequences();
}
TEST_F(GpuAdjoint, IsThatOfTheCpuInDouble) { cases.are_those_of_the_cpu_in<double>(); }
TEST_F(GpuAdjoint, IsThatOfTheCpuInComplexNumbers) {
  cases.are_those_of_the_cpu_in<std::complex<float>>();
  cases.are_those_of_the_cpu_in<std::complex<double>>();
}
TEST_F(GpuAdjoint, IsThatOfTheCpuForManyTiles) {
  using namespace wane::testing;
  cases.expect_as_on_the_cpu(linear_problem<wane::decay_as::log, float>(1, 300001, 1, 3));
  cases.expect_as_on_the_cpu(bank_problem<float>(2, 20000, 2, 16, 40));
}

}  // namespace
