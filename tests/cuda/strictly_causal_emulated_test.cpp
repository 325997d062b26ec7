// Tokens that read before they write, on an emulated GPU: as sums over pairs say.
// SPDX-License-Identifier: MIT
#include "cuda/strictly_causal_cases.hpp"
#include "wane/testing/emulated_run.hpp"

namespace wane::testing {
namespace {

using support::expect_strictly_causal;

TEST(EmulatedStrictlyCausal, ReadsBeforeItWrites) {
  emulated_runner<> const runner({.order = turns::last_taken});
  expect_strictly_causal<float>(runner);
  expect_strictly_causal<double>(runner);
}
TEST(EmulatedStrictlyCausal, ReadsBeforeItWritesHoweverItIsCut) {
  expect_strictly_causal<double>(emulated_runner<cuda::impl::scan_config<32, 1, 1, 64, 512>>());
  expect_strictly_causal<double>(emulated_runner<cuda::impl::scan_config<32, 1, 1, 64, 1, 0>>());
}

}  // namespace
}  // namespace wane::testing
