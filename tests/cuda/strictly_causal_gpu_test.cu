// Tokens that read before they write, on a GPU: the bodies of the emulated test for real.
// SPDX-License-Identifier: MIT
#include "cuda/strictly_causal_cases.hpp"
#include "support/on_device.cuh"

namespace {

class GpuStrictlyCausal : public support::OnDevice {};

TEST_F(GpuStrictlyCausal, ReadsBeforeItWrites) {
  support::expect_strictly_causal<float>(support::device_runner());
}

}  // namespace
