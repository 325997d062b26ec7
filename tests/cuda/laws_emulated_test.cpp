// The laws of recurrences hold for the scan of wane::cuda, on an emulated GPU.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/laws_hold.hpp"
#include "support/memory_problems.hpp"
#include "wane/testing/emulated_run.hpp"
#include "wane/testing/laws.hpp"

namespace wane::testing {
namespace {

using support::expect_to_hold;

template <class T>
class EmulatedLaws : public ::testing::Test {};
// The other types: scan_types_emulated_test.cpp.
using Scalars = ::testing::Types<float, std::complex<double>>;
TYPED_TEST_SUITE(EmulatedLaws, Scalars);

TYPED_TEST(EmulatedLaws, Hold) {
  double const bound = sizeof(real_type<TypeParam>) == 4 ? 1e-6 : 1e-13;
  emulated_runner<cuda::impl::scan_config<32, 1, 1, 64, 512>> const runner(
      {.order = turns::last_taken});
  for (index time : {5, 97})
    for (index columns : {1, 33}) {
      expect_to_hold(check_laws(linear_problem<decay_as::log, TypeParam>(1, time, 1, columns),
                                bound, 1, runner));
      expect_to_hold(check_laws(linear_problem<decay_as::factor, TypeParam>(2, time, 1, columns),
                                bound, 1, runner));
    }
  expect_to_hold(check_laws(bank_problem<TypeParam>(1, 97, 1, 4, 3), bound, 1, runner));
  expect_to_hold(check_laws(user_memory_problem<TypeParam>(1, 97, 1, 3, 5), bound, 1, runner));
}

// Linear attention, its division left out.
struct sums_problem : linear_attention_problem<float, token_view<float const>> {
  using linear_attention_problem::linear_attention_problem;

  auto make(index begin, index end) const {
    return unnormalised(linear_attention_problem::make(begin, end));
  }
};

TEST(EmulatedLawsOfMemories, HoldWhereNothingIsErased) {
  emulated_runner<cuda::impl::scan_config<32, 1, 1, 64, 512>> const runner(
      {.order = turns::last_taken});
  expect_to_hold(check_laws(gla_problem<float>({1, 97, 2, 3, 5, 1}), 1e-6, 1, runner));
  expect_to_hold(check_laws(retnet_problem<float>({2, 97, 2, 3, 5}), 1e-6, 1, runner));
  expect_to_hold(check_laws(sums_problem({1, 97, 2, 3, 5, 1}), 1e-6, 1, runner));
}

}  // namespace
}  // namespace wane::testing
