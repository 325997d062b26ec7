// run_two_sided is the sum over past and future lags, for every window, phase and layout.
// SPDX-License-Identifier: MIT
#include "wane/run/two_sided/run.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "support/expect_error.hpp"
#include "support/nearness.hpp"
#include "support/two_sided_sum.hpp"

namespace wane {
namespace {

using spectra::window_shape;
using support::laplace_problem, support::laplace_size, support::two_sided_sum;

constexpr future_phase phases[] = {future_phase::conjugate, future_phase::same};

// Windows are shorter and longer than a sequence, of one token, and longer than a block.
laplace_size const sizes[] = {
    {},
    {.batch = 1, .tokens = 6, .heads = 1, .columns = 2, .width = 9},
    {.batch = 1, .tokens = 0, .heads = 1, .columns = 2},
    {.batch = 1, .tokens = 1, .heads = 1, .columns = 1},
    {.batch = 1, .tokens = 1300, .heads = 1, .columns = 1, .nodes = 1, .width = 20},
    {.batch = 1, .tokens = 1400, .heads = 2, .columns = 1, .nodes = 1, .width = 700},
    {.batch = 1, .tokens = 70, .columns = 17, .width = 1, .by_column = true},
    {.tokens = 50, .columns = 8, .width = 0.6, .masked = true},
    {.tokens = 40, .heads = 1, .columns = 70, .width = 4.5, .by_column = true, .masked = true},
    {.batch = 3, .tokens = 35, .columns = 5, .width = 4.5, .masked = true, .masks = 3},
};

template <class Out, class Io, window_shape Window>
std::vector<Out> answers(laplace_problem<Io, Window> const& p, future_phase phase,
                         run_options<accumulate_type<laplace<Io, Window>>> const& options = {}) {
  auto const op = p.make(0, p.tokens);
  std::vector<Out> y(p.x.size(), Out(-7.f));
  run_two_sided(op, op.future(phase),
                sequence_view<Out>(y.data(), p.batch, p.tokens, p.heads, p.columns), options);
  return y;
}

// The largest error, in units of the largest sum of magnitudes.
template <class Out, class Io, window_shape Window>
double error(laplace_problem<Io, Window> p, future_phase phase, std::vector<Out> const& y,
             std::vector<impl::token_range> const& sequences = {}) {
  auto const want = two_sided_sum<double>(p, phase, sequences)(-7);
  for (auto& x : p.x) x = Io(std::abs(convert<float>(x)));
  for (auto& o : p.omega) o = 0;
  for (auto& c : p.read_out) c = std::abs(c);
  auto const size = two_sided_sum<double>(p, phase, sequences)();
  support::nearness near;
  for (std::size_t i = 0; i < y.size(); ++i) near.add(convert<double>(y[i]), want[i], size[i]);
  return near.of_largest();
}

template <class Problem>
using input_type = std::remove_cvref_t<decltype(std::declval<Problem>().x[0])>;
template <class Problem>
using number = widened<input_type<Problem>>;
// A float state has the error that wane promises. Otherwise a float output has three roundings, and
// a double output some eps.
template <class Problem>
constexpr double bound = sizeof(accumulate_type<typename Problem::operation>) == 8 ? 1e-6
                         : sizeof(number<Problem>) == 4                            ? 3 * 0x1p-24
                                                                                   : 1e-14;

template <class Problem>
class TwoSided : public ::testing::Test {};
using EveryWindow = ::testing::Types<
    laplace_problem<float, window_shape::none>, laplace_problem<double, window_shape::none>,
    laplace_problem<bfloat16, window_shape::none>,
    laplace_problem<float, window_shape::exponential>,
    laplace_problem<double, window_shape::exponential>,
    laplace_problem<float, window_shape::rectangular>,
    laplace_problem<double, window_shape::rectangular>, laplace_problem<float, window_shape::hann>,
    laplace_problem<double, window_shape::hann>, laplace_problem<bfloat16, window_shape::hann>>;
TYPED_TEST_SUITE(TwoSided, EveryWindow);

TYPED_TEST(TwoSided, IsTheSumOverLags) {
  for (index i = 0; laplace_size const& size : sizes) {
    for (future_phase phase : phases) {
      TypeParam const p(size);
      auto const y = answers<number<TypeParam>>(p, phase);
      EXPECT_LE(error(p, phase, y), bound<TypeParam>) << "case " << i;
    }
    ++i;
  }
}

TYPED_TEST(TwoSided, PackedSequencesDoNotSeeEachOther) {
  index const starts[] = {0, 1, 1, 30, 61};
  for (future_phase phase : phases) {
    TypeParam const p({.batch = 1, .columns = 5});
    auto const y = answers<number<TypeParam>>(p, phase, {.packed = {starts}});
    EXPECT_LE(error(p, phase, y, {{0, 0, 1}, {0, 1, 30}, {0, 30, 61}}), bound<TypeParam>);
  }
}

TYPED_TEST(TwoSided, PackedSequencesHaveAMaskEach) {
  index const starts[] = {0, 1, 1, 30, 61};
  for (future_phase phase : phases) {
    TypeParam const p({.batch = 1, .columns = 5, .masked = true, .masks = 4});
    auto const y = answers<number<TypeParam>>(p, phase, {.packed = {starts}});
    EXPECT_LE(error(p, phase, y, {{0, 0, 1}, {0, 1, 1}, {0, 1, 30}, {0, 30, 61}}),
              bound<TypeParam>);
  }
}

TYPED_TEST(TwoSided, PaddingIsNeitherReadNorWritten) {
  index const lengths[] = {47, 0, 61};
  for (future_phase phase : phases) {
    TypeParam p({.batch = 3, .columns = 5});
    TypeParam hard = p;
    for (index b = 0; b < 3; ++b)
      for (index n = lengths[b] * 10; n < 610; ++n)
        hard.x[static_cast<std::size_t>(b * 610 + n)] = input_type<TypeParam>(NAN);
    auto const y = answers<number<TypeParam>>(hard, phase, {.lengths = lengths});
    EXPECT_LE(error(p, phase, y, {{0, 0, 47}, {2, 0, 61}}), bound<TypeParam>);
  }
}

TYPED_TEST(TwoSided, PastAndFutureChangePlacesInReverse) {
  TypeParam p({.batch = 1, .heads = 1, .columns = 1});
  auto y =
      answers<number<TypeParam>>(p, future_phase::conjugate, {.direction = direction::reverse});
  std::reverse(p.x.begin(), p.x.end()), std::reverse(y.begin(), y.end());
  EXPECT_LE(error(p, future_phase::conjugate, y), bound<TypeParam>);
}

TYPED_TEST(TwoSided, ThreadsDoNotChangeABit) {
  TypeParam const p({.tokens = 600, .columns = 70, .by_column = true});
  auto const one = answers<number<TypeParam>>(p, future_phase::conjugate, {.threads = 1});
  for (int threads : {0, 2, 5}) {
    auto const y = answers<number<TypeParam>>(p, future_phase::conjugate, {.threads = threads});
    EXPECT_EQ(std::memcmp(one.data(), y.data(), one.size() * sizeof(y[0])), 0) << threads;
  }
}

// A sequence in two parts: the second begins with the state after the first.
TYPED_TEST(TwoSided, StatesAreThoseOfThePast) {
  using State = accumulate_type<typename TypeParam::operation>;
  TypeParam const p({.batch = 1, .tokens = 700});
  index const cut = 83;
  auto const whole = p.make(0, p.tokens), first = p.make(0, cut), second = p.make(cut, p.tokens);
  auto const output = [&](auto& y, auto const& op) {
    y.resize(static_cast<std::size_t>(op.shape().time * p.heads * p.columns));
    return sequence_view<number<TypeParam>>(y.data(), 1, op.shape().time, p.heads, p.columns);
  };
  std::vector<number<TypeParam>> y, rest, plain;
  recurrent_state<State> kept(whole), last(whole), middle(whole), last_of_two(whole), of_run(whole);
  kept_state<State> const keep[] = {{cut, kept}};
  run_two_sided(whole, whole.future(), output(y, whole),
                run_options<State>{.final = last, .keep = keep});
  run(whole, output(plain, whole), run_options<State>{.final = of_run});
  run_two_sided(first, first.future(), output(plain, first), run_options<State>{.final = middle});
  run_two_sided(second, second.future(), output(rest, second),
                run_options<State>{.initial = std::as_const(middle), .final = last_of_two});
  EXPECT_EQ(kept.positions()[0], cut);
  EXPECT_EQ(last_of_two.positions()[0], p.tokens);
  EXPECT_EQ(std::memcmp(kept.values().data(), middle.values().data(),
                        kept.values().size() * sizeof(State)),
            0);
  for (std::size_t i = 0; i < rest.size(); ++i)  // sums of some 40 numbers below 1
    EXPECT_NEAR(convert<double>(rest[i]), convert<double>(y[y.size() - rest.size() + i]),
                40 * bound<TypeParam>);
  std::size_t const sums = static_cast<std::size_t>(whole.poles() * p.columns);
  for (std::size_t i = 0; i < sums; ++i) {
    EXPECT_LE(std::abs(last.values()[i] - of_run.values()[i]), 40 * bound<TypeParam>);
    EXPECT_LE(std::abs(last_of_two.values()[i] - of_run.values()[i]), 40 * bound<TypeParam>);
  }
}

TEST(TwoSidedOf16Bits, RoundsEachSideAndTheirSum) {
  for (future_phase phase : phases) {
    laplace_problem<bfloat16, window_shape::hann> const p({});
    // Three roundings of at most the sum of magnitudes, by half of 2^-7 each.
    EXPECT_LE(error(p, phase, answers<bfloat16>(p, phase)), 3 * 0x1p-8);
  }
}

template <class Problem>
class TwoSidedOfWindowsThatEnd : public ::testing::Test {};
using WindowsThatEnd = ::testing::Types<laplace_problem<float, window_shape::rectangular>,
                                        laplace_problem<double, window_shape::hann>>;
TYPED_TEST_SUITE(TwoSidedOfWindowsThatEnd, WindowsThatEnd);

TYPED_TEST(TwoSidedOfWindowsThatEnd, WhatIsNotFiniteIsGoneAfterTwoWidths) {
  for (double hard : {double(NAN), double(INFINITY)}) {
    TypeParam p({.batch = 1, .tokens = 150, .heads = 1, .columns = 1});
    TypeParam zero = p;
    index const at = 71, reach = p.make(0, 1).reach(0);
    p.x[at] = static_cast<std::remove_cvref_t<decltype(p.x[0])>>(hard), zero.x[at] = 0;
    auto const y = answers<double>(p, future_phase::conjugate);
    auto const want = two_sided_sum<double>(zero, future_phase::conjugate)();
    for (std::size_t n = 0; n < y.size(); ++n)
      if (std::abs(static_cast<index>(n) - at) >= 2 * reach) {
        EXPECT_NEAR(y[n], want[n], 1e-13) << n;
      } else if (n == at) {
        EXPECT_FALSE(std::isfinite(y[n]));
      }
  }
}

TEST(TwoSidedWrongInput, IsRefusedBeforeAnythingIsWritten) {
  using problem = laplace_problem<float, window_shape::hann>;
  problem p({.batch = 1, .tokens = 9}), other({.batch = 1, .tokens = 9});
  auto const op = p.make(0, 9);
  std::vector<float> y(p.x.size(), -7);
  auto const output = [&](index tokens) {
    return sequence_view<float>(y.data(), 1, tokens, p.heads, p.columns);
  };
  using State = accumulate_type<problem::operation>;
  using support::expect_error;
  expect_error({"past and future", "different values"},
               [&] { run_two_sided(op, other.make(0, 9), output(9)); });
  expect_error({"output", "8", "9"}, [&] { run_two_sided(op, op.future(), output(8)); });
  recurrent_state<State> wrong(2, p.heads, op.shape().rows, p.columns);
  expect_error({"initial", "sequences"}, [&] {
    run_two_sided(op, op.future(), output(9), run_options<State>{.initial = std::as_const(wrong)});
  });
  expect_error({"final", "sequences"}, [&] {
    run_two_sided(op, op.future(), output(9), run_options<State>{.final = wrong});
  });
  index const starts[] = {0, 4};
  expect_error({"packed"}, [&] {
    run_two_sided(op, op.future(), output(9), run_options<State>{.packed = {starts}});
  });
  p.sigma[0] = -1;
  expect_error({"sigma", "-1"}, [&] { run_two_sided(op, op.future(), output(9)); });
  for (float v : y) EXPECT_EQ(v, -7);
}

}  // namespace
}  // namespace wane
