// exponential_bank is a sum of exponentials, for every size, layout, direction and type.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/bank_case.hpp"

namespace {

using support::arrangement;
using support::bank_error;
using support::bank_shape;
using support::bound_of;
using support::index;
using support::linear_shape;
using wane::direction;

constexpr index rows_to_try[] = {1, 3, 4, 8, 12, 16, 17, 28, 40};

template <class Io, class Accumulate = wane::widened<Io>>
void expect_right(bank_shape const& s, double rounding = 0) {
  // The sum of S terms adds S roundings, of random sign.
  double const sum = sizeof(wane::real_type<Accumulate>) == 4 ? 6e-8 * 3 : 1e-15;
  double const bound = bound_of<Accumulate>(s.of.time) + sum * std::sqrt(double(s.rows)) + rounding;
  EXPECT_LT((bank_error<Io, Accumulate>(s)), bound)
      << s.rows << " rows, " << s.of.time << " tokens, " << s.of.columns << " columns, layouts "
      << static_cast<int>(s.of.inputs) << static_cast<int>(s.of.output);
}

template <class Io>
class ExponentialBank : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ExponentialBank, Types);

TYPED_TEST(ExponentialBank, IsItsFormulaForRaggedSizes) {
  for (index rows : rows_to_try)
    for (index time : {1, 2, 3, 63, 64, 65, 127, 300})
      for (index columns : {1, 2, 3, 15, 33, 65})
        expect_right<TypeParam>({rows, {.time = time, .columns = columns}});
  for (index rows : {3, 16, 40}) expect_right<TypeParam>({rows, {.time = 1000, .columns = 127}});
  expect_right<TypeParam>({17, {.time = 65, .columns = 1000}});
}

TYPED_TEST(ExponentialBank, IsItsFormulaInEveryLayoutAndDirection) {
  for (index rows : {3, 17})
    for (arrangement inputs : support::all_arrangements)
      for (arrangement output : support::all_arrangements)
        for (direction way : {direction::forward, direction::reverse})
          expect_right<TypeParam>({rows, {2, 67, 2, 19, inputs, output, way}});
}

TYPED_TEST(ExponentialBank, IsItsFormulaBeyondTheSizeThatGoesPastTheCaches) {
  for (auto const& [rows, time, columns] : {std::array<index, 3>{3, 730, 1008},
                                            {16, 730, 1001},
                                            {8, 45700, 16},
                                            {1, 1430, 512},
                                            {17, 1430, 512}})
    for (arrangement how : {arrangement::plain, arrangement::odd})
      expect_right<TypeParam>(
          {rows, {.time = time, .columns = columns, .inputs = how, .output = how}});
  expect_right<TypeParam>(
      {4, {1, 731, 1, 1000, arrangement::plain, arrangement::plain, direction::reverse}});
}

TYPED_TEST(ExponentialBank, IsItsFormulaWithoutInitialStateOrDirectTerm) {
  for (index rows : {1, 16, 17}) {
    expect_right<TypeParam>(
        {rows, {.batch = 2, .time = 65, .heads = 2, .columns = 19, .carries = false}});
    expect_right<TypeParam>({rows, {.batch = 2, .time = 65, .heads = 2, .columns = 19}, false});
  }
}

TYPED_TEST(ExponentialBank, IsItsFormulaForPackedSequences) {
  for (index rows : {3, 17})
    for (direction way : {direction::forward, direction::reverse}) {
      linear_shape s{.time = 200, .heads = 2, .columns = 20, .direction = way};
      s.starts = {0, 0, 1, 70, 70, 134, 199, 200, 200};
      expect_right<TypeParam>({rows, s});
    }
}

TEST(ExponentialBankTypes, ComplexNodesAreDampedOscillations) {
  for (index rows : {1, 5})
    for (index time : {1, 64, 127}) {
      linear_shape const s{.batch = 2, .time = time, .heads = 2, .columns = 3};
      expect_right<std::complex<double>>({rows, s});
      expect_right<std::complex<float>>({rows, s});
    }
}

TEST(ExponentialBankTypes, SixteenBitValuesAreSummedInFloat) {
  for (index rows : {3, 17})
    for (index columns : {1, 19, 40}) {
      linear_shape const s{.batch = 2, .time = 100, .heads = 2, .columns = columns};
      expect_right<wane::bfloat16>({rows, s}, 2 * 0x1p-9);
    }
}

}  // namespace
