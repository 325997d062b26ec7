// step of a bank of poles with complex outputs, and with states whose columns are apart.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/laplace_problem.hpp"
#include "support/nearness.hpp"
#include "wane/run/run.hpp"

namespace {

using support::laplace_problem;
using wane::index;
using wane::spectra::window_shape;

template <class Window>
class StepOfPoles : public ::testing::Test {};
template <window_shape Shape>
using shape = std::integral_constant<window_shape, Shape>;
using Windows = ::testing::Types<shape<window_shape::none>, shape<window_shape::exponential>,
                                 shape<window_shape::gaussian>, shape<window_shape::rectangular>,
                                 shape<window_shape::hann>>;
TYPED_TEST_SUITE(StepOfPoles, Windows);

// The outputs of all tokens, token by token, from a state whose columns are `apart`.
template <class Out, class Problem>
std::vector<Out> steps_of(Problem const& problem, index apart) {
  using number = typename Problem::state_number;
  auto const op = problem.make(0, problem.time());
  auto const at = op.shape();
  std::vector<number> numbers(
      static_cast<std::size_t>(at.batch * at.heads * at.rows * at.columns * apart));
  std::vector<index> positions(static_cast<std::size_t>(at.batch), 0);
  index const row = at.columns * apart, head = at.rows * row;
  wane::state_view<number> const state{{numbers.data(),
                                        {at.batch, at.heads, at.rows, at.columns},
                                        {at.heads * head, head, row, apart}},
                                       positions.data()};
  std::vector<Out> y(static_cast<std::size_t>(at.batch * at.time * at.heads * at.columns));
  wane::sequence_view<Out> const outputs(y.data(), at.batch, at.time, at.heads, at.columns);
  for (index t = 0; t < at.time; ++t)
    wane::step(problem.make(t, t + 1), outputs.tokens(t, t + 1), state);
  return y;
}

// Im y is the real part of what read-outs times -i give.
TYPED_TEST(StepOfPoles, GivesComplexOutputs) {
  for (bool by_column : {false, true}) {
    laplace_problem<double, TypeParam::value> straight({.by_column = by_column}), turned = straight;
    for (std::size_t i = 0; i < turned.read_out.size(); i += 2) {
      std::swap(turned.read_out[i], turned.read_out[i + 1]);  // -i (a + b i) = b - a i
      turned.read_out[i + 1] = -turned.read_out[i + 1];
    }
    std::vector<double> expected_re(straight.x.size()), expected_im = expected_re;
    auto const run = [](auto const& problem, auto& y) {
      auto const op = problem.make(0, problem.time());
      auto const at = op.shape();
      wane::run(op, wane::sequence_view<double>(y.data(), at.batch, at.time, at.heads, at.columns));
    };
    run(straight, expected_re), run(turned, expected_im);
    for (index apart : {1, 2}) {
      auto const y = steps_of<std::complex<double>>(straight, apart);
      auto const real = steps_of<double>(straight, apart);
      for (std::size_t i = 0; i < y.size(); ++i) {
        EXPECT_NEAR(y[i].real(), expected_re[i], 1e-12) << i;
        EXPECT_NEAR(y[i].imag(), expected_im[i], 1e-12) << i;
        EXPECT_NEAR(real[i], expected_re[i], 1e-12) << i;
      }
    }
  }
}

}  // namespace
