// The scan of wane::cuda on a GPU, in scalar types other than float.
// SPDX-License-Identifier: MIT
#include "cuda/scan/cases.hpp"
#include "support/on_device.cuh"

namespace {

class GpuScanTypes : public support::OnDevice {
 protected:
  support::scan_cases<support::device_runner> cases;
};

TEST_F(GpuScanTypes, IsItsFormulaInDouble) { cases.are_right_for_the_type<double>(); }
TEST_F(GpuScanTypes, IsItsFormulaInComplexNumbers) {
  cases.are_right_for_the_type<std::complex<float>>();
}
TEST_F(GpuScanTypes, IsItsFormulaInShortTypes) {
  cases.are_right_for_the_type<wane::bfloat16>();
  cases.are_right_for_the_type<wane::float16>();
}

}  // namespace
