// retrieval goes through the scan of wane::cuda from the operator that the CPU runs.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cuda/chunks/retrieval_cases.hpp"
#include "support/laws_hold.hpp"
#include "support/nearness.hpp"
#include "wane/testing/emulated_run.hpp"
#include "wane/testing/laws.hpp"

namespace wane::testing {
namespace {

TEST(EmulatedRetrieval, KeepsTheLaws) {
  emulated_runner<cuda::impl::scan_config<32, 1, 1, 64, 512>> const runner(
      {.order = turns::last_taken});
  memory_size const size{1, 40, 2, 3, 5, 1};
  support::expect_to_hold(
      check_laws(retrieval_problem<float, normaliser::none>(size), 1e-6, 1, runner));
  support::expect_to_hold(check_laws(
      retrieval_problem<double, normaliser::none, own_token::excluded>(size), 1e-12, 1, runner));
}

// What is divided runs there before its division.
TEST(EmulatedRetrieval, GivesNumeratorsAndDenominators) {
  retrieval_problem<double, normaliser::decayed> const p({1, 70, 2, 3, 5});
  auto const op = unnormalised(p.make(0, 70));
  std::vector<double> on_cpu(70 * 2 * 6), emulated(on_cpu);
  run(op, sequence_view<double>(on_cpu.data(), 1, 70, 2, 6));
  run(emulated_gpu{}, op, sequence_view<double>(emulated.data(), 1, 70, 2, 6));
  support::nearness near;
  for (std::size_t i = 0; i < on_cpu.size(); ++i) near.add(emulated[i], on_cpu[i]);
  EXPECT_LT(near.both(), 1e-14);
}

support::retrieval_cases<emulated_runner<>> const cases{
    emulated_runner<>({.order = turns::last_taken})};

TEST(EmulatedRetrieval, IsThatOfTheOracle) { cases.are_right<float, own_token::included>(); }
TEST(EmulatedRetrieval, IsThatOfTheOracleInDouble) {
  cases.are_right<double, own_token::included>();
}
TEST(EmulatedRetrieval, IsThatOfTheOracleWithoutTheOwnToken) {
  cases.are_right<float, own_token::excluded>();
}
TEST(EmulatedRetrieval, IsThatOfTheOracleWithoutTheOwnTokenInDouble) {
  cases.are_right<double, own_token::excluded>();
}

}  // namespace
}  // namespace wane::testing
