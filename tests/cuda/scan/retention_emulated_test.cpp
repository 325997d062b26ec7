// retention goes through the scan of wane::cuda from the operator that the CPU runs.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cuda/scan/retention_cases.hpp"
#include "support/laws_hold.hpp"
#include "wane/testing/emulated_run.hpp"
#include "wane/testing/laws.hpp"

namespace wane::testing {
namespace {

TEST(EmulatedRetention, KeepsTheLaws) {
  emulated_runner<cuda::impl::scan_config<32, 1, 1, 64, 512>> const runner(
      {.order = turns::last_taken});
  for (index columns : {1, 33}) {
    support::expect_to_hold(
        check_laws(support::retention_problem<float>{.batch = 1, .heads = 2, .columns = columns},
                   1e-6, 1, runner));
    support::expect_to_hold(check_laws(
        support::retention_problem<double>{.batch = 1, .heads = 2, .columns = columns, .nodes = 16},
        1e-12, 1, runner));
  }
}

TEST(EmulatedRetention, KeepsTheLawsOnBanks) {
  emulated_runner<cuda::impl::scan_config<32, 1, 1, 64, 512>> const runner(
      {.order = turns::last_taken});
  using nearest = support::banks<float, spectra::routing::nearest>;
  using linear = support::banks<double, spectra::routing::linear>;
  support::retention_problem<float, nearest> in_float{
      .batch = 1, .heads = 2, .columns = 1, .nodes = 2};
  support::retention_problem<double, linear> in_double{
      .batch = 1, .heads = 1, .columns = 5, .nodes = 3};
  support::expect_to_hold(check_laws(in_float, 1e-6, 1, runner));
  support::expect_to_hold(check_laws(in_double, 1e-12, 1, runner));
}

support::retention_cases<emulated_runner<>> const cases{
    emulated_runner<>({.order = turns::last_taken})};

TEST(EmulatedRetention, IsThatOfTheOracle) { cases.are_right<float>(); }
TEST(EmulatedRetention, IsThatOfTheOracleInDouble) { cases.are_right<double>(); }
TEST(EmulatedRetention, IsThatOfTheOracleInBfloat16) { cases.are_right<bfloat16>(); }

}  // namespace
}  // namespace wane::testing
