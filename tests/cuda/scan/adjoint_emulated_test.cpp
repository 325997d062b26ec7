// The adjoint of wane::cuda on an emulated GPU: that of the CPU, however it is cut.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cuda/scan/adjoint_cases.hpp"
#include "wane/testing/emulated_run.hpp"

namespace {

using support::index;
using wane::testing::emulated_runner;
using wane::testing::turns;

support::adjoint_cases<emulated_runner<>> const cases{
    emulated_runner<>({.order = turns::last_taken})};

TEST(EmulatedAdjoint, IsThatOfTheCpu) { cases.are_those_of_the_cpu(); }
TEST(EmulatedAdjoint, IsThatOfTheCpuForPackedSequences) {
  cases.are_those_of_the_cpu_for_packed_sequences();
}
TEST(EmulatedAdjoint, IsTheDerivativeInEveryLayout) { cases.are_right_in_every_layout(); }

// Lines walked in order, blocks of one warp.
TEST(EmulatedAdjoint, IsThatOfTheCpuHoweverItIsCut) {
  using wane::cuda::impl::scan_config;
  using namespace wane::testing;
  auto const expect = [](auto const& cut) {
    cut.expect_as_on_the_cpu(linear_problem<wane::decay_as::log, double>(2, 300, 1, 3));
    cut.expect_as_on_the_cpu(bank_problem<double>(1, 300, 2, 4, 40));
  };
  using in_order = emulated_runner<scan_config<64, 3, 2, 64, 1>>;
  using one_warp = emulated_runner<scan_config<32, 1, 1, 1 << 30, 512>>;
  expect(support::adjoint_cases<in_order>{in_order()});
  expect(support::adjoint_cases<one_warp>{one_warp()});
}

}  // namespace
