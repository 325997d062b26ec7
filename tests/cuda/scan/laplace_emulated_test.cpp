// laplace goes through the scan of wane::cuda from the operator that the CPU runs.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cuda/scan/laplace_cases.hpp"
#include "support/laws_hold.hpp"
#include "wane/testing/emulated_run.hpp"
#include "wane/testing/laws.hpp"

namespace wane::testing {
namespace {

using spectra::window_shape;

TEST(EmulatedLaplace, KeepsTheLaws) {
  emulated_runner<cuda::impl::scan_config<32, 1, 1, 64, 512>> const runner(
      {.order = turns::last_taken});
  support::laplace_size const one{.batch = 1, .tokens = 97, .heads = 1, .columns = 5},
      other{.batch = 1, .columns = 33, .by_column = true, .masked = true};
  support::expect_to_hold(
      check_laws(support::laplace_problem<double, window_shape::none>(one), 1e-12, 1, runner));
  support::expect_to_hold(check_laws(
      support::laplace_problem<float, window_shape::exponential>(other), 1e-6, 1, runner));
}

support::laplace_cases<emulated_runner<>> const cases{
    emulated_runner<>({.order = turns::last_taken})};

TEST(EmulatedLaplace, IsThatOfTheOracle) { cases.are_right<float, window_shape::none>(); }
TEST(EmulatedLaplace, IsThatOfTheOracleInDouble) {
  cases.expect_right<double, window_shape::gaussian>({.tokens = 70}, direction::forward);
  cases.are_right<double, window_shape::exponential>();
}
TEST(EmulatedLaplace, IsThatOfTheOracleInBfloat16) {
  cases.are_right<bfloat16, window_shape::none>();
}

}  // namespace
}  // namespace wane::testing
