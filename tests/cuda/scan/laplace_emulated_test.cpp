// laplace goes through the scan of wane::cuda from the operator that the CPU runs.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cuda/scan/laplace_cases.hpp"
#include "support/expect_error.hpp"
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
TEST(EmulatedLaplace, TakesAMaskOfEachSequence) {
  cases.take_a_mask_of_each_sequence<float>();
  cases.take_a_mask_of_each_sequence<double>();
}

// What the scan does not do with a mask of each sequence.
TEST(EmulatedLaplace, RefusesToPackSequencesWithAMaskEach) {
  using problem = support::laplace_problem<float, window_shape::none>;
  problem const p({.batch = 1, .masked = true, .masks = 2});
  auto const op = p.make(0, p.tokens);
  std::vector<float> y(p.x.size());
  sequence_view<float> const to(y.data(), 1, p.tokens, p.heads, p.columns);
  index const starts[] = {0, 20, p.tokens};
  using V = accumulate_type<problem::operation>;
  support::expect_error({"a mask of each", "on a GPU they must be the rows of a batch"},
                        [&] { testing::run({}, op, to, run_options<V>{.packed = {starts}}); });
  support::expect_error({"mask has shape [2, 2, 3]", "[N, H, S] = [1, 2, 3]"},
                        [&] { testing::run({}, op, to); });
}
TEST(EmulatedLaplace, RefusesGradientsOfPolesWithAMaskEach) {
  using problem = support::laplace_problem<float, window_shape::none>;
  problem const p({.masked = true, .masks = 2});
  auto const op = p.make(0, p.tokens);
  std::vector<float> dy(p.x.size());
  std::vector<std::complex<float>> of_poles(64);
  support::expect_error({"mask differs by sequence"}, [&] {
    testing::adjoint(
        {}, op, sequence_view<float>(dy.data(), p.batch, p.tokens, p.heads, p.columns),
        problem::operation::pole_gradients{.weight = {of_poles.data(), p.heads, op.poles()}});
  });
}

}  // namespace
}  // namespace wane::testing
