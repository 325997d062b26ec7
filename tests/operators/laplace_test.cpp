// laplace is the windowed sum over lags, for every layout of values and every stored type.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/laplace_sum.hpp"
#include "support/tensor.hpp"
#include "wane/run/run.hpp"

namespace {

using support::arrangement, support::laplace_parameters;
using wane::index;
using wane::spectra::window_shape;

struct size {
  index batch = 2, time = 150, heads = 3, columns = 5, nodes = 3;
  double narrowest = .3, widest = 40;
  bool by_column = false, masked = false;
  bool masks_differ = false;  // between the sequences
};

// Heads differ in width: one is below a token, one is whole, the others are not.
template <class P>
laplace_parameters<P> parameters_of(size const& s, support::random_values& random) {
  laplace_parameters<P> all(s.heads, s.nodes, s.by_column ? s.columns : 1,
                            s.masks_differ ? s.batch : 1);
  all.draw(random, s.narrowest, s.widest);
  all.width[0] = static_cast<P>(s.narrowest);
  if (s.heads > 1) all.width[1] = std::floor(static_cast<P>(s.widest));
  all.sigma[0] = 0;
  if (!s.masked) std::fill(all.mask.begin(), all.mask.end(), P(1));
  return all;
}

// The largest error of any channel relative to its rms, of a run or, with `Step`, token by token.
template <class Io, window_shape Window, class Out, bool Step = false, class Part = double>
double error_of(size const& s, arrangement how = arrangement::plain) {
  using V = std::complex<Part>;
  using P = wane::widened<Io>;
  using Op = wane::laplace<Io, Window, V>;
  support::random_values random(5);
  auto const parameters = parameters_of<P>(s, random);
  support::tensor<Io> x(s.batch, s.time, s.heads, s.columns, how);
  support::tensor<Out> y(s.batch, s.time, s.heads, s.columns, how);
  x.fill([&](auto...) { return random.uniform(-1, 1); });
  auto const nodes = parameters.view(Op::has_window, s.masked);
  if constexpr (Step) {
    wane::recurrent_state<V> state(Op({.value = x}, nodes));
    for (index t = 0; t < s.time; ++t)
      wane::step(Op({.value = x.view().tokens(t, t + 1)}, nodes), y.view().tokens(t, t + 1), state);
  } else {
    wane::run(Op({.value = x}, nodes), y.view());
  }
  EXPECT_TRUE(x.margins_untouched() && y.margins_untouched());
  double worst = 0;
  for (index h = 0; h < s.heads; ++h)
    for (index j = 0; j < s.columns; ++j) {
      support::error_of_rms error;
      for (index b = 0; b < s.batch; ++b) {
        auto const response = parameters.response(Window, h, j, s.time, b);
        for (index t = 0; t < s.time; ++t)
          error.add(static_cast<long double>(static_cast<wane::widened<Out>>(y(b, t, h, j))),
                    support::laplace_sum(response, t,
                                         [&](index m) { return static_cast<P>(x(b, m, h, j)); }));
      }
      worst = std::max(worst, error());
    }
  return worst;
}

template <class Io, class Out, bool Step = false>
void expect_near(double bound, size const& s, arrangement how = arrangement::plain) {
  SCOPED_TRACE("columns " + std::to_string(s.columns) + ", arrangement " +
               std::to_string(static_cast<int>(how)));
  EXPECT_LE((error_of<Io, window_shape::none, Out, Step>(s, how)), bound);
  EXPECT_LE((error_of<Io, window_shape::exponential, Out, Step>(s, how)), bound);
  EXPECT_LE((error_of<Io, window_shape::rectangular, Out, Step>(s, how)), bound);
  EXPECT_LE((error_of<Io, window_shape::hann, Out, Step>(s, how)), bound);
}

constexpr double of_double = 1e-12;
constexpr double of_float = 1e-6;  // an output is rounded to 6e-8 of it, and is up to 6 rms

size const sizes[] = {{},
                      {.batch = 1, .time = 1, .heads = 1, .columns = 1, .nodes = 1},
                      {.batch = 1, .time = 7, .heads = 1, .columns = 1, .widest = 100},
                      {.time = 80, .columns = 17, .by_column = true},
                      {.time = 60, .heads = 2, .columns = 8, .narrowest = 1, .masked = true},
                      {.batch = 1,
                       .time = 131,
                       .heads = 2,
                       .columns = 67,
                       .nodes = 5,
                       .widest = 9,
                       .by_column = true,
                       .masked = true},
                      {.batch = 3, .time = 40, .heads = 2, .masked = true, .masks_differ = true},
                      {.batch = 4,
                       .time = 19,
                       .heads = 1,
                       .columns = 67,
                       .by_column = true,
                       .masked = true,
                       .masks_differ = true}};

TEST(Laplace, IsTheWindowedSumOfDoubles) {
  for (auto const& s : sizes) expect_near<double, double>(of_double, s);
}

TEST(Laplace, IsTheWindowedSumOfFloats) {
  for (auto const& s : sizes) expect_near<float, float>(of_float, s);
}

// A step multiplies by a pole rounded to float, so an input l tokens old has l rounded factors.
TEST(Laplace, IsTheWindowedSumOfFloatsInStatesOfFloat) {
  constexpr double of_turns = 150 * 0x1p-24;
  for (size const& s : {sizes[0], sizes[1], sizes[2]}) {
    EXPECT_LE((error_of<float, window_shape::none, float, false, float>(s)), of_turns);
    EXPECT_LE((error_of<float, window_shape::none, float, true, float>(s)), of_turns);
    EXPECT_LE((error_of<float, window_shape::exponential, float, false, float>(s)), of_turns);
    EXPECT_LE((error_of<float, window_shape::exponential, float, true, float>(s)), of_turns);
  }
}

// The oracle uses the operator's float parameters: the error is the rounding of double.
TEST(Laplace, TakesShortInputsAndFloatParametersAsTheyAre) {
  expect_near<float, double>(of_double, {});
  expect_near<wane::bfloat16, double>(of_double, {.by_column = true});
  expect_near<wane::float16, double>(of_double, {.masked = true});
}

// A bfloat16 has 8 bits, half of the last of an output up to 6 rms.
TEST(Laplace, RoundsShortOutputsOnce) {
  expect_near<wane::bfloat16, wane::bfloat16>(6 * 0x1p-8, {});
}

TEST(Laplace, StepsThroughTheWindowedSum) {
  for (auto const& s : sizes) expect_near<double, double, true>(of_double, s);
  expect_near<wane::bfloat16, double, true>(of_double, {.by_column = true, .masked = true});
}

TEST(Laplace, ReadsAndWritesAnyArrangement) {
  for (auto how : support::all_arrangements) {
    expect_near<double, double>(of_double, {.time = 50, .columns = 9}, how);
    expect_near<double, double, true>(of_double, {.time = 50, .columns = 9}, how);
    expect_near<wane::bfloat16, double>(of_double, {.time = 50, .by_column = true}, how);
  }
}

// Nodes lie backwards in memory, heads share nodes, and channels share values.
TEST(Laplace, ReadsParametersOfAnyStrides) {
  constexpr index H = 2, S = 3, V = 4, T = 60;
  support::random_values random(8);
  laplace_parameters<double> one(1, S, 1);
  one.draw(random, 11.5, 11.5);
  auto nodes = std::as_const(one).view(true, true);
  auto const shared = [&](auto& view) { view.extent[0] = H, view.stride[0] = 0; };
  shared(nodes.sigma), shared(nodes.omega), shared(nodes.read_out), shared(nodes.width);
  nodes.mask.extent[1] = H, nodes.mask.stride[1] = 0;
  nodes.read_out.extent[2] = V, nodes.read_out.stride[2] = 0;
  auto const turn = [&](auto& view, int nodes_at = 1) {
    view.data += (S - 1) * view.stride[nodes_at], view.stride[nodes_at] *= -1;
  };
  turn(nodes.sigma), turn(nodes.omega), turn(nodes.read_out), turn(nodes.mask, 2);
  std::vector<double> x(T);
  for (double& v : x) v = random.uniform(-1, 1);
  wane::sequence_view<double const> const values{x.data(), {1, T, H, V}, {0, 1, 0, 0}};
  support::tensor<double> y(1, T, H, V);
  wane::run(wane::laplace<double, window_shape::hann>({.value = values}, nodes), y.view());
  auto const response = one.response(window_shape::hann, 0, 0, T);
  support::error_of_rms error;
  y.for_each([&](index, index t, index h, index j) {
    error.add(y(0, t, h, j), support::laplace_sum(response, t, [&](index m) {
                return x[static_cast<std::size_t>(m)];
              }));
  });
  EXPECT_LE(error(), of_double);
}

// Widths just above a whole number reach one token further than widths just below or at it.
TEST(Laplace, EndsWhereTheWidthSays) {
  for (double width : {4., std::nextafter(4., 5.), std::nextafter(4., 3.), 4.5, 1., 1e-3, .999}) {
    laplace_parameters<double> one(1, 1, 1);
    one.width[0] = width;
    std::vector<double> x(20), y(20);
    x[0] = 1;
    wane::run(wane::laplace<double, window_shape::rectangular>(
                  {.value = {x.data(), 1, 20, 1, 1}}, std::as_const(one).view(true, false)),
              wane::sequence_view<double>(y.data(), 1, 20, 1, 1));
    for (index l = 0; l < 20; ++l)
      EXPECT_NEAR(y[static_cast<std::size_t>(l)], static_cast<double>(l) < width ? 1 : 0, 1e-15)
          << "width " << width << ", lag " << l;
  }
}

// The same for widths below the normal numbers, which a run may take for 0.
TEST(Laplace, SeesOneTokenThroughTheSmallestWidths) {
  for (double width : {1e-3, 1e-20, 1e-100, 1e-300, 1e-310}) {
    expect_near<double, double>(of_double, {.time = 30, .narrowest = width, .widest = 1});
    expect_near<double, double, true>(of_double, {.time = 30, .narrowest = width, .widest = 1});
    expect_near<float, float>(of_float, {.time = 30, .narrowest = std::max(width, 1e-40)});
  }
}

// The ring of a state has room for the widest window that the operator had when it was made.
TEST(Laplace, RefusesAWindowThatGrew) {
  laplace_parameters<double> one(1, 1, 1);
  one.width[0] = 3.5;
  std::vector<double> x(20), y(20);
  wane::laplace<double, window_shape::hann> const op({.value = {x.data(), 1, 20, 1, 1}},
                                                     std::as_const(one).view(true, false));
  auto const run = [&] { wane::run(op, wane::sequence_view<double>(y.data(), 1, 20, 1, 1)); };
  one.width[0] = 4;
  EXPECT_NO_THROW(run());
  one.width[0] = 4.1;
  EXPECT_THROW(run(), wane::error);
}

}  // namespace
