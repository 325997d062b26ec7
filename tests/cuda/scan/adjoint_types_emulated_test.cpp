// The adjoint of wane::cuda in scalar types other than float, and its laws, on an emulated GPU.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cuda/scan/adjoint_cases.hpp"
#include "wane/testing/adjoint_laws.hpp"
#include "wane/testing/emulated_run.hpp"

namespace {

using wane::testing::emulated_runner;

TEST(EmulatedAdjoint, IsThatOfTheCpuInComplexFloat) {
  support::adjoint_cases<emulated_runner<>> const cases{emulated_runner<>()};
  cases.are_those_of_the_cpu_in<std::complex<float>>();
}

template <class T>
class EmulatedAdjointLaws : public testing::Test {};
using Doubles = testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(EmulatedAdjointLaws, Doubles);

TYPED_TEST(EmulatedAdjointLaws, Hold) {
  using namespace wane::testing;
  auto const expect = [](auto problem) {
    for (auto const& r : check_adjoint_laws(problem, 1e-8, 1, emulated_runner<>()))
      EXPECT_TRUE(r.holds()) << r.law << ": error " << r.error << ", bound " << r.bound;
  };
  expect(linear_problem<wane::decay_as::log, TypeParam>(2, 250, 1, 3));
  expect(linear_problem<wane::decay_as::factor, TypeParam>(1, 250, 2, 1));
  expect(bank_problem<TypeParam>(2, 100, 2, 3, 5));
}

}  // namespace
