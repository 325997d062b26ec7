// laplace keeps every law of recurrences with every window, and its gradients are those of its
// outputs.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/laplace_problem.hpp"
#include "support/laws_hold.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/testing/adjoint_laws.hpp"

namespace wane::testing {
namespace {

using spectra::window_shape;
using support::laplace_problem, support::laplace_size;

// Windows are shorter and longer than the chunks and than the sequence, whole and not.
laplace_size const sizes[] = {
    {},
    {.batch = 1, .tokens = 6, .heads = 1, .columns = 2, .width = 9},
    {.batch = 1, .tokens = 90, .heads = 1, .columns = 1, .nodes = 1, .width = 5},
    {.batch = 1, .tokens = 70, .columns = 17, .width = 1, .by_column = true},
    {.tokens = 50, .columns = 8, .width = 0.6, .masked = true},
    {.batch = 3,
     .tokens = 9,
     .heads = 1,
     .columns = 66,
     .nodes = 2,
     .width = 4.5,
     .by_column = true,
     .masked = true},
    {.batch = 3, .tokens = 33, .columns = 5, .width = 6.5, .masked = true, .masks = 3},
};

template <class Problem>
class LaplaceLaws : public ::testing::Test {};
using EveryWindow = ::testing::Types<
    laplace_problem<float, window_shape::none>, laplace_problem<double, window_shape::none>,
    laplace_problem<bfloat16, window_shape::none>,
    laplace_problem<float, window_shape::exponential>,
    laplace_problem<float, window_shape::gaussian>, laplace_problem<double, window_shape::gaussian>,
    laplace_problem<float, window_shape::rectangular>,
    laplace_problem<double, window_shape::rectangular>, laplace_problem<float, window_shape::hann>,
    laplace_problem<double, window_shape::hann>, laplace_problem<bfloat16, window_shape::hann>>;
TYPED_TEST_SUITE(LaplaceLaws, EveryWindow);

TYPED_TEST(LaplaceLaws, Hold) {
  using T = real_type<accumulate_type<operator_of<TypeParam>>>;
  for (index i = 0; laplace_size const& size : sizes)
    support::expect_to_hold(check_laws(TypeParam(size), sizeof(T) == 4 ? 1e-6 : 1e-12),
                            "case " + std::to_string(i++) + ", ");
}

template <class Problem>
class LaplaceAdjointLaws : public ::testing::Test {};
using EveryWindowInDouble = ::testing::Types<laplace_problem<double, window_shape::none>,
                                             laplace_problem<double, window_shape::exponential>,
                                             laplace_problem<double, window_shape::gaussian>,
                                             laplace_problem<double, window_shape::rectangular>,
                                             laplace_problem<double, window_shape::hann>>;
TYPED_TEST_SUITE(LaplaceAdjointLaws, EveryWindowInDouble);

TYPED_TEST(LaplaceAdjointLaws, Hold) {
  for (index i = 0; laplace_size const& size : sizes) {
    TypeParam problem(size);
    support::expect_to_hold(check_adjoint_laws(problem), "case " + std::to_string(i++) + ", ");
  }
}

}  // namespace
}  // namespace wane::testing
