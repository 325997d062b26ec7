// The adjoint of exponential_bank against derivatives of the naive loop by complex steps.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/bank_gradients.hpp"

namespace {

using support::arrangement;
using support::bank_gradients;
using support::bank_shape;
using support::index;
using support::linear_shape;
using wane::direction;

template <class T>
using bank = wane::exponential_bank<T>;
static_assert(wane::impl::gives_lanes<bank<float>, bank<float>::gradients>());
// There are no vectors of complex numbers.
static_assert(
    !wane::impl::gives_lanes<bank<std::complex<float>>, bank<std::complex<float>>::gradients>());

template <class Io>
void expect_right(bank_shape const& s, double bound) {
  bank_gradients<Io> gradients(s);
  gradients.find();
  EXPECT_LT(gradients.error(), bound)
      << s.rows << " rows, " << s.of.time << " tokens, " << s.of.columns << " columns";
}

TEST(AdjointOfExponentialBank, IsTheDerivativeForRaggedSizes) {
  for (index rows : {1, 3, 17})
    for (index time : {1, 2, 15, 16, 33})
      for (index columns : {1, 3, 9}) {
        expect_right<double>({rows, {.batch = 2, .time = time, .columns = columns}}, 1e-9);
      }
  expect_right<double>({2, {.time = 130, .columns = 2}}, 1e-9);
}

TEST(AdjointOfExponentialBank, IsTheDerivativeInEveryLayoutAndDirection) {
  for (arrangement how : support::all_arrangements)
    for (direction way : {direction::forward, direction::reverse})
      expect_right<double>({3, {2, 18, 3, 5, how, how, way}}, 1e-9);
}

TEST(AdjointOfExponentialBank, IsTheDerivativeForPackedSequences) {
  for (direction way : {direction::forward, direction::reverse}) {
    linear_shape s{.time = 40, .heads = 2, .columns = 3, .direction = way};
    s.starts = {0, 0, 1, 20, 20, 39, 40, 40};
    expect_right<double>({3, s}, 1e-9);
  }
}

TEST(AdjointOfExponentialBank, WithoutDirectTermOrInitialStateIsTheDerivative) {
  expect_right<double>({4, {.time = 20, .columns = 3, .carries = false}, false}, 1e-9);
}

TEST(AdjointOfExponentialBank, OfFloatsSumsOverTokensInDouble) {
  // States and cotangents err by a rounding a token; the sums over tokens add none.
  expect_right<float>({3, {.batch = 2, .time = 100, .columns = 9}}, 9 * 6e-8 * 10);
}

TEST(AdjointOfExponentialBank, OfNoTokensIsZeroForTheNodes) {
  bank_gradients<double> none({3, {.batch = 2, .time = 0, .heads = 2, .columns = 5}});
  none.find();
  for (auto const* g : {&none.log_decay, &none.key, &none.query, &none.direct})
    for (double x : *g) EXPECT_EQ(x, 0);
  EXPECT_EQ(none.initial.values(), none.last.values());
}

TEST(AdjointOfExponentialBank, HasTheSameBitsForAnyNumberOfThreads) {
  bank_shape s{17, {.batch = 3, .time = 100, .heads = 2, .columns = 40}};
  bank_gradients<float> one(s);
  one.find();
  for (int threads : {2, 3, 7}) {
    s.of.threads = threads;
    bank_gradients<float> more(s);
    more.find();
    EXPECT_EQ(one.log_decay, more.log_decay);
    EXPECT_EQ(one.key, more.key);
    EXPECT_EQ(one.query, more.query);
    EXPECT_EQ(one.direct, more.direct);
    EXPECT_EQ(one.initial.values(), more.initial.values());
  }
}

}  // namespace
