// The scan of wane::cuda in every scalar type, on an emulated GPU.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cuda/scan/cases.hpp"
#include "wane/testing/emulated_run.hpp"

namespace {

support::scan_cases<wane::testing::emulated_runner<>> const cases{
    wane::testing::emulated_runner<>()};

TEST(EmulatedScan, IsItsFormulaInDouble) { cases.are_right_for_the_type<double>(); }
TEST(EmulatedScan, IsItsFormulaInComplexNumbers) {
  cases.are_right_for_the_type<std::complex<float>>();
}
TEST(EmulatedScan, IsItsFormulaInShortTypes) {
  cases.are_right_for_the_type<wane::bfloat16>();
  cases.are_right_for_the_type<wane::float16>();
  cases.are_right_for_the_type<wane::bfloat16, double>();
}

}  // namespace
