// The scan of wane::cuda on an emulated GPU: right in every order, and the same bits in each.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cuda/scan/cases.hpp"
#include "wane/testing/emulated_run.hpp"

namespace {

using support::index;

using wane::testing::emulated_gpu;
using wane::testing::emulated_runner;
using wane::testing::turns;

support::scan_cases<emulated_runner<>> const cases{emulated_runner<>()};

TEST(EmulatedScan, IsItsFormulaForRaggedSizes) { cases.are_right_for_ragged_sizes(); }
TEST(EmulatedScan, IsItsFormulaInEveryLayoutAndDirection) {
  cases.are_right_in_every_layout_and_direction();
}
TEST(EmulatedScan, IsItsFormulaForPackedSequences) { cases.are_right_for_packed_sequences(); }
TEST(EmulatedScan, IsItsFormulaForBanks) { cases.are_right_for_banks(); }

// Few or many blocks, whichever runs ahead: nothing but the tile decides what is added to what.
TEST(EmulatedScan, GivesTheSameBitsInEveryOrder) {
  for (index columns : {1, 5, 64}) {
    auto const outcome = [&](emulated_gpu const& gpu) {
      support::linear_case<wane::decay_as::log, float> run(
          {.batch = 2, .time = 1500, .columns = columns});
      run.run_by(emulated_runner<>(gpu));
      auto values = run.final.values();
      run.output.for_each([&](auto... at) { values.push_back(run.output(at...)); });
      return values;
    };
    auto const expected = outcome({.blocks = 1});
    for (int blocks : {2, 3, 7})
      for (turns order : {turns::random, turns::first_taken, turns::last_taken})
        for (unsigned seed : {1u, 2u})
          EXPECT_EQ(outcome({blocks, seed, order}), expected)
              << columns << " columns, " << blocks << " blocks";
  }
}

}  // namespace
