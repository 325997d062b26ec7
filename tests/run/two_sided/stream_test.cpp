// two_sided_stream gives the outputs of run_two_sided with its stated delay, for any pushes.
// SPDX-License-Identifier: MIT
#include "wane/run/two_sided/stream.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/nearness.hpp"
#include "support/two_sided_sum.hpp"

namespace wane {
namespace {

using spectra::window_shape;
using support::laplace_problem, support::laplace_size, support::two_sided_sum;

laplace_size const sizes[] = {
    {.tokens = 61},
    {.batch = 1, .tokens = 5, .heads = 1, .columns = 2, .width = 9},
    {.batch = 1, .tokens = 0, .heads = 1, .columns = 2},
    {.tokens = 40, .columns = 3, .width = 1},
    {.batch = 1, .tokens = 33, .heads = 1, .columns = 9, .width = 2, .by_column = true},
    {.tokens = 150, .columns = 4, .width = 31, .masked = true},
    {.batch = 3, .tokens = 50, .columns = 4, .width = 6.5, .masked = true, .masks = 3},
};

template <class Problem>
class TwoSidedStream : public ::testing::Test {
 public:
  using Io = std::remove_cvref_t<decltype(std::declval<Problem>().x[0])>;
  using Out = widened<Io>;

  // The outputs for all tokens of a problem, which are pushed `at_once` at a time.
  template <class Stream>
  static std::vector<Out> answers(Stream& stream, Problem const& p, index at_once) {
    index given = 0;
    std::vector<Out> y(p.x.size(), Out(-7));
    sequence_view<Io const> const x(p.x.data(), p.batch, p.tokens, p.heads, p.columns);
    sequence_view<Out> const all(y.data(), p.batch, p.tokens, p.heads, p.columns);
    for (index t = 0; t < p.tokens; t += at_once) {
      index const count = std::min(at_once, p.tokens - t), ready = stream.ready(count);
      stream.push(x.tokens(t, t + count), all.tokens(given, given + ready));
      given += ready;
      EXPECT_EQ(given + stream.waiting(), t + count);
      EXPECT_LE(stream.waiting(), stream.delay());
    }
    stream.finish(all.tokens(given, p.tokens));
    EXPECT_EQ(stream.waiting(), 0);
    return y;
  }
};
using WindowsThatEnd = ::testing::Types<
    laplace_problem<float, window_shape::rectangular>,
    laplace_problem<double, window_shape::rectangular>, laplace_problem<float, window_shape::hann>,
    laplace_problem<double, window_shape::hann>, laplace_problem<bfloat16, window_shape::hann>>;
TYPED_TEST_SUITE(TwoSidedStream, WindowsThatEnd);

// The stream is used again after each finish, and then begins anew.
TYPED_TEST(TwoSidedStream, IsTheSumOverLags) {
  for (laplace_size const& size : sizes)
    for (future_phase phase : {future_phase::conjugate, future_phase::same}) {
      TypeParam const p(size);
      auto const want = two_sided_sum<double>(p, phase)();
      auto const op = p.make(0, 0);
      two_sided_stream stream(op, op.future(phase));
      for (index at_once : {1, 2, 3, 7, 64, 150}) {
        auto const y = this->answers(stream, p, at_once);
        support::nearness near;
        for (std::size_t i = 0; i < y.size(); ++i) near.add(static_cast<double>(y[i]), want[i]);
        // Sums are in double; the outputs of both sides are rounded.
        EXPECT_LE(near.of_largest(), sizeof(y[0]) == 4 ? 2e-7 : 1e-14) << at_once;
      }
    }
}

TYPED_TEST(TwoSidedStream, AnswersAfterReachLessOneToTwiceSoManyTokens) {
  TypeParam const p({.batch = 1, .tokens = 90, .heads = 1, .width = 7.4});
  auto const op = p.make(0, 0);
  index const reach = op.reach(0);
  two_sided_stream stream(op, op.future());
  EXPECT_EQ(stream.delay(), 2 * reach - 2);
  std::vector<double> y(static_cast<std::size_t>(p.columns * reach));
  index given = 0, latest = 0, soonest = p.tokens;
  for (index t = 0; t < p.tokens; ++t) {
    index const ready = stream.ready(1);
    stream.push({p.x.data() + t * p.columns, 1, 1, 1, p.columns},
                sequence_view<double>(y.data(), 1, ready, 1, p.columns));
    for (index n = given; n < given + ready; ++n)
      latest = std::max(latest, t - n), soonest = std::min(soonest, t - n);
    given += ready;
  }
  EXPECT_EQ(latest, 2 * reach - 2);
  EXPECT_EQ(soonest, reach - 1);
}

TYPED_TEST(TwoSidedStream, WhatIsNotFiniteIsGoneAfterTwoWidths) {
  TypeParam p({.batch = 1, .tokens = 150, .heads = 1, .columns = 1});
  TypeParam zero = p;
  index const reach = p.make(0, 1).reach(0);
  for (index at = 70; at < 70 + reach; ++at) {
    p.x = zero.x;
    p.x[static_cast<std::size_t>(at)] = support::not_a_number<typename TestFixture::Io>();
    zero.x[static_cast<std::size_t>(at)] = typename TestFixture::Io(0.f);
    auto const op = p.make(0, 0);
    two_sided_stream stream(op, op.future());
    auto const y = this->answers(stream, p, 11);
    auto const want = two_sided_sum<double>(zero, future_phase::conjugate)();
    for (std::size_t n = 0; n < y.size(); ++n)
      if (std::abs(static_cast<index>(n) - at) >= 2 * reach) {
        EXPECT_NEAR(static_cast<double>(y[n]), want[n], 1e-5) << n;
      }
    EXPECT_TRUE(std::isnan(y[static_cast<std::size_t>(at)]));
  }
}

TYPED_TEST(TwoSidedStream, ThreadsDoNotChangeABit) {
  TypeParam const p({.tokens = 90, .columns = 70, .by_column = true});
  auto const op = p.make(0, 0);
  two_sided_stream one(op, op.future(), 1), five(op, op.future(), 5);
  EXPECT_EQ(this->answers(one, p, 13), this->answers(five, p, 13));
}

TEST(TwoSidedStreamWrongInput, IsRefusedBeforeAnythingIsTaken) {
  using problem = laplace_problem<double, window_shape::hann>;
  problem p({.batch = 1, .tokens = 40}), other({.batch = 1, .tokens = 40});
  auto const op = p.make(0, 40);
  using support::expect_error;
  expect_error({"past and future", "different values"},
               [&] { two_sided_stream stream(op, other.make(0, 40)); });
  two_sided_stream stream(op, op.future());
  std::vector<double> y(p.x.size(), -7);
  auto const view = [&](index tokens, index columns) {
    return sequence_view<double>(y.data(), 1, tokens, p.heads, columns);
  };
  sequence_view<double const> const x(p.x.data(), 1, 40, p.heads, p.columns);
  index const ready = stream.ready(40);
  EXPECT_GT(ready, 0);
  expect_error({"output", "time"}, [&] { stream.push(x, view(ready + 1, p.columns)); });
  expect_error({"output", "columns"}, [&] { stream.push(x, view(ready, p.columns - 1)); });
  expect_error({"values", "columns"}, [&] {
    stream.push(sequence_view<double const>(p.x.data(), 1, 40, p.heads, p.columns - 1),
                view(ready, p.columns));
  });
  EXPECT_EQ(stream.waiting(), 0);
  expect_error({"output", "time"}, [&] { stream.finish(view(1, p.columns)); });
  for (double v : y) EXPECT_EQ(v, -7);
  p.sigma[0] = -1;
  expect_error({"sigma", "-1"}, [&] { two_sided_stream wrong(op, op.future()); });
}

}  // namespace
}  // namespace wane
