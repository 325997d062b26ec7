// Gradients by row and token, sums over columns, on an emulated GPU: those of the CPU.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cuda/scan/adjoint_cases.hpp"
#include "support/laws_hold.hpp"
#include "support/memory_problems.hpp"
#include "support/retention_problem.hpp"
#include "wane/testing/adjoint_laws.hpp"
#include "wane/testing/emulated_run.hpp"

namespace wane::testing {
namespace {

using by_head = token_view<double const>;
support::adjoint_cases<emulated_runner<>> const cases{
    emulated_runner<>({.order = turns::last_taken})};

// One column, a tile that is not full, three tiles of columns; one tile of tokens and many.
TEST(EmulatedAdjointSums, AreThoseOfTheCpu) {
  for (index columns : {1, 7, 70})
    for (index time : {0, 1, 25, 150})
      for (auto way : {direction::forward, direction::reverse}) {
        cases.expect_as_on_the_cpu(gla_problem<double>({2, time, 2, 3, columns}), {way});
        cases.expect_as_on_the_cpu(gla_problem<double, by_head>({1, time, 2, 4, columns}),
                                   {way, {}, false});
        cases.expect_as_on_the_cpu(retnet_problem<double>({1, time, 4, 2, columns, 2}), {way});
        cases.expect_as_on_the_cpu(user_memory_problem<double>(1, time, 2, 3, columns), {way});
      }
}

TEST(EmulatedAdjointSums, AreThoseOfTheCpuForPackedSequences) {
  for (auto way : {direction::forward, direction::reverse})
    for (index columns : {3, 40}) {
      cases.expect_as_on_the_cpu(gla_problem<double>({1, 150, 2, 3, columns}),
                                 {way, {0, 0, 1, 1, 64, 65, 65, 150, 150}});
      cases.expect_as_on_the_cpu(
          support::retention_problem<double>{
              .batch = 1, .tokens = 150, .heads = 2, .columns = columns},
          {way, {0, 20, 100, 150}});
    }
}

TEST(EmulatedAdjointSums, AreThoseOfTheCpuInComplexDouble) {
  cases.expect_as_on_the_cpu(user_memory_problem<std::complex<double>>(2, 60, 1, 3, 40));
}

TEST(EmulatedAdjointSums, AreThoseOfTheCpuHoweverTheyAreCut) {
  auto const expect = [](auto const& cut) {
    cut.expect_as_on_the_cpu(gla_problem<double>({1, 100, 2, 3, 40}));
    cut.expect_as_on_the_cpu(user_memory_problem<double>(1, 100, 1, 5, 3));
  };
  using in_order = emulated_runner<cuda::impl::scan_config<64, 3, 2, 64, 1>>;
  using one_warp = emulated_runner<cuda::impl::scan_config<32, 1, 1, 1 << 30, 512>>;
  expect(support::adjoint_cases<in_order>{in_order()});
  expect(support::adjoint_cases<one_warp>{one_warp()});
}

TEST(EmulatedAdjointSums, AreDerivatives) {
  emulated_runner<> const runner;
  gla_problem<double> keyed({2, 40, 2, 3, 40});
  support::expect_to_hold(check_adjoint_laws(keyed, 1e-8, 1, runner));
  support::retention_problem<double> fading{.batch = 1, .tokens = 40, .heads = 2, .columns = 33};
  support::expect_to_hold(check_adjoint_laws(fading, 1e-8, 1, runner));
}

// More rows than one block of the last kernel has room for 32 tokens of.
TEST(EmulatedAdjointSums, HaveRoomForManyRows) {
  ASSERT_LT(cuda::impl::tokens_of_sums<gla<double>>(70), 32);
  cases.expect_as_on_the_cpu(gla_problem<double>({1, 40, 1, 70, 2}));
}

// A gradient that nobody takes is left out, and the others stay.
TEST(EmulatedAdjointSums, MayBeAbsent) {
  support::retention_problem<double> all{.batch = 1, .tokens = 60, .heads = 2, .columns = 5};
  auto const op = all.make(0, 60);
  auto const dy = all.values(all.value);
  adjoint({}, op, dy, all.gradients());
  auto const to_value = all.to_value, to_alpha = all.to_alpha;
  for (double& x : all.to_value) x = NAN;
  for (double& x : all.to_alpha) x = NAN;
  adjoint({}, op, dy, decltype(all.gradients()){.alpha = all.orders(all.to_alpha)});
  adjoint({}, op, dy, decltype(all.gradients()){.value = all.values(all.to_value)});
  EXPECT_EQ(all.to_value, to_value);
  EXPECT_EQ(all.to_alpha, to_alpha);
}

}  // namespace
}  // namespace wane::testing
