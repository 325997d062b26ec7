// linear_recurrence is h_t = a_t h_{t-1} + b_t, for every size, layout and direction.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/linear_case.hpp"

namespace {

using support::arrangement;
using support::bound_of;
using support::index;
using support::linear_error;
using support::linear_shape;
using wane::decay_as;
using wane::direction;

template <class Io>
class LinearRecurrence : public ::testing::Test {
 public:
  // Both forms of decay.
  static void expect_right(linear_shape const& s) {
    double const bound = bound_of<Io>(s.time);
    EXPECT_LT((linear_error<decay_as::log, Io>(s)), bound) << describe(s) << ", logs";
    EXPECT_LT((linear_error<decay_as::factor, Io>(s)), bound) << describe(s) << ", factors";
  }
  static std::string describe(linear_shape const& s) {
    return testing::PrintToString(std::vector<index>{
        s.batch, s.time, s.heads, s.columns, static_cast<index>(s.inputs),
        static_cast<index>(s.output), static_cast<index>(s.direction), s.threads});
  }
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LinearRecurrence, Types);

TYPED_TEST(LinearRecurrence, IsItsFormulaForRaggedSizes) {
  for (index time : support::ragged_sizes)
    for (index columns : support::ragged_sizes)
      if (time * columns <= 127000) this->expect_right({.time = time, .columns = columns});
}

TYPED_TEST(LinearRecurrence, IsItsFormulaForEveryNumberOfChannelsOfAFewVectors) {
  for (index columns = 1; columns <= 40; ++columns)
    this->expect_right({.time = 70, .columns = columns});
}

TYPED_TEST(LinearRecurrence, IsItsFormulaForEveryNumberOfTokensOfFewChannels) {
  for (index time = 1; time <= 140; ++time)
    for (index columns : {1, 2, 4, 8}) this->expect_right({.time = time, .columns = columns});
}

TYPED_TEST(LinearRecurrence, IsItsFormulaInEveryLayoutAndDirection) {
  for (arrangement inputs : support::all_arrangements)
    for (arrangement output : support::all_arrangements)
      for (direction way : {direction::forward, direction::reverse})
        for (index columns : {1, 4, 19})
          this->expect_right(
              {inputs == output ? 1 : 2, 70, 1 + columns % 2, columns, inputs, output, way});
}

TYPED_TEST(LinearRecurrence, IsItsFormulaBeyondTheSizeThatGoesPastTheCaches) {
  // 3 numbers of 4 bytes for each of 730000 elements are 8.8 MB.
  for (auto const& [batch, time, heads, columns] : {std::array<index, 4>{1, 730, 1, 1000},
                                                    {1, 46000, 1, 16},
                                                    {1, 23000, 1, 32},
                                                    {2, 365, 1, 1008},
                                                    {1, 5704, 2, 64},
                                                    {1, 356, 1, 2064},
                                                    {1, 730000, 1, 1}})
    this->expect_right({batch, time, heads, columns});
  for (auto const& [how, way] :
       {std::pair{arrangement::odd, direction::forward}, {arrangement::plain, direction::reverse}})
    this->expect_right({1, 730, 1, 1008, how, how, way});
}

TYPED_TEST(LinearRecurrence, StreamsOnlyWhereItsOutputIsAligned) {
  for (arrangement inputs : {arrangement::odd, arrangement::plain, arrangement::padded})
    for (arrangement output : {arrangement::plain, arrangement::odd, arrangement::padded,
                               arrangement::heads_first, arrangement::backwards})
      this->expect_right({1, 1500, 2, 256, inputs, output});
}

TYPED_TEST(LinearRecurrence, OfZeroStridesReadsTheSameElement) {
  // One decay for all channels and tokens, one drive for all tokens.
  using T = TypeParam;
  index const time = 100, columns = 37;
  T const decay = T(-0.05);
  std::vector<T> drive(columns);
  for (std::size_t c = 0; c < drive.size(); ++c) drive[c] = static_cast<T>(c) / 7;
  wane::sequence_view<T const> const a(&decay, {1, time, 1, columns}, {0, 0, 0, 0});
  wane::sequence_view<T const> const b(drive.data(), {1, time, 1, columns}, {0, 0, 0, 1});
  support::tensor<T> y(1, time, 1, columns);
  wane::run(wane::linear_recurrence<decay_as::log, T>({.decay = a, .drive = b}), y.view());
  support::nearness near;
  double const w = std::exp(static_cast<double>(decay));
  y.for_each([&](index, index t, index, index c) {
    double const sum = (1 - std::pow(w, t + 1)) / (1 - w);
    near.add(y(0, t, 0, c), sum * static_cast<double>(drive[static_cast<std::size_t>(c)]));
  });
  EXPECT_LT(near.both(), bound_of<T>(time));
}

TYPED_TEST(LinearRecurrence, WithoutInitialStateStartsFromZero) {
  this->expect_right({.batch = 2, .time = 65, .heads = 2, .columns = 19, .carries = false});
}

TYPED_TEST(LinearRecurrence, OfOneTokenAndZeroDecayIsItsDrive) {
  using T = TypeParam;
  T const log = -std::numeric_limits<T>::infinity(), drive = T(0.1);
  T y = 0;
  wane::run(wane::linear_recurrence<decay_as::log, T>(
                {.decay = {&log, 1, 1, 1, 1}, .drive = {&drive, 1, 1, 1, 1}}),
            {&y, 1, 1, 1, 1});
  EXPECT_EQ(y, drive);
}

}  // namespace
