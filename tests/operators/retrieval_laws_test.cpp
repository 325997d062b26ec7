// retrieval keeps every law of recurrences, and its gradients are those of its outputs.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/laws_hold.hpp"
#include "support/retrieval_problem.hpp"
#include "wane/operators/undecayed_retrieval.hpp"
#include "wane/run/adjoint.hpp"
#include "wane/testing/adjoint_laws.hpp"

namespace wane::testing {
namespace {

constexpr auto none = normaliser::none, decayed = normaliser::decayed,
               undecayed = normaliser::undecayed;
constexpr auto excluded = own_token::excluded;
template <class T>
using mixed_banks = support::banks<T, spectra::routing::linear>;

// Batch, time, heads, features, columns, groups of heads, options.
memory_size const sizes[] = {
    {1, 90, 2, 1, 1},
    {1, 66, 2, 5, 7},
    {2, 40, 1, 16, 17},
    {1, 65, 1, 17, 33},
    {1, 40, 6, 3, 4, 3, {.groups = head_groups::tiled}},
    {1, 50, 2, 8, 9, 0, {.scale = 0.7, .normalise = true, .epsilon = 0.01}},
};

template <class Problem>
class RetrievalLaws : public ::testing::Test {};
using InFloatAndDouble =
    ::testing::Types<retrieval_problem<float, none>, retrieval_problem<double, none>,
                     retrieval_problem<float, decayed>, retrieval_problem<double, decayed>,
                     retrieval_problem<float, none, excluded>,
                     retrieval_problem<float, decayed, excluded>,
                     retrieval_problem<double, decayed, excluded, mixed_banks<double>>,
                     retrieval_problem<float, undecayed>, retrieval_problem<double, undecayed>,
                     retrieval_problem<float, undecayed, excluded>,
                     retrieval_problem<double, undecayed, excluded, mixed_banks<double>>>;
TYPED_TEST_SUITE(RetrievalLaws, InFloatAndDouble);

TYPED_TEST(RetrievalLaws, Hold) {
  using T = accumulate_type<operator_of<TypeParam>>;
  for (index i = 0; memory_size const& size : sizes)
    support::expect_to_hold(check_laws(TypeParam(size), sizeof(T) == 4 ? 1e-6 : 1e-12),
                            "case " + std::to_string(i++) + ", ");
}

// The differences that the laws of the adjoint compare with are many runs: smaller ones.
memory_size const small_sizes[] = {
    {1, 40, 1, 1, 1},
    {2, 35, 2, 3, 5},
    {1, 17, 1, 16, 8},
    {1, 19, 6, 3, 4, 2},
    {2, 19, 6, 3, 3, 3, {.groups = head_groups::tiled}},
    {1, 30, 2, 5, 9, 0, {.scale = -0.7, .normalise = true, .epsilon = 0.01}},
    {1, 30, 2, 5, 9, 0, {.normalise = true, .epsilon = 0.01}},
};

template <class Problem>
class RetrievalAdjointLaws : public ::testing::Test {};
using InDouble = ::testing::Types<
    retrieval_problem<double, none>, retrieval_problem<double, decayed>,
    retrieval_problem<double, none, excluded>, retrieval_problem<double, decayed, excluded>,
    retrieval_problem<double, decayed, excluded, mixed_banks<double>>,
    retrieval_problem<double, undecayed>, retrieval_problem<double, undecayed, excluded>,
    retrieval_problem<double, undecayed, excluded, mixed_banks<double>>>;
TYPED_TEST_SUITE(RetrievalAdjointLaws, InDouble);

TYPED_TEST(RetrievalAdjointLaws, Hold) {
  for (index i = 0; memory_size const& size : small_sizes) {
    TypeParam problem(size);
    support::expect_to_hold(check_adjoint_laws(problem), "case " + std::to_string(i++) + ", ");
  }
}

}  // namespace
}  // namespace wane::testing
