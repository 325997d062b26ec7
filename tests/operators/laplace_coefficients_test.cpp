// laplace_coefficients: its equation, every law of recurrences, and its gradients.
// SPDX-License-Identifier: MIT
#include "wane/operators/laplace_coefficients.hpp"

#include <gtest/gtest.h>

#include "support/laplace_problem.hpp"
#include "support/laws_hold.hpp"
#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "support/relevance_case.hpp"
#include "wane/run/two_sided/coefficients.hpp"
#include "wane/testing/adjoint_laws.hpp"
#include "wane/testing/sharded_laws.hpp"

namespace wane::testing {
namespace {

using spectra::window_shape;
using support::laplace_size;

// The problem of laplace without the read-out, which coefficients do not use.
template <class Io, window_shape Window>
struct coefficients_problem : support::laplace_problem<Io, Window> {
  using base = support::laplace_problem<Io, Window>;
  using operation = laplace_coefficients<typename base::operation>;
  using base::base;
  static constexpr window_shape window = Window;

  operation make(index begin, index end) const { return operation(base::make(begin, end)); }
  auto inputs() { return without_read_out(base::inputs()); }
  auto input_gradients() { return without_read_out(base::input_gradients()); }
  auto gradients(index begin = 0, index end = -1) {
    auto to = base::gradients(begin, end);
    to.nodes.read_out = {};
    return to;
  }
  void begin(recurrent_state<accumulate_type<operation>>& state, std::mt19937_64& bits) const {
    base::begin(state, bits);
  }

 private:
  template <class Spans>
  static Spans without_read_out(Spans spans) {
    spans[3] = {};
    return spans;
  }
};

// Windows are shorter and longer than the blocks and than the sequence, whole and not. There are
// more tokens than lie between two corrections.
laplace_size const sizes[] = {
    {.masked = true},
    {.batch = 1, .tokens = 6, .heads = 1, .columns = 2, .width = 9},
    {.batch = 1, .tokens = 90, .heads = 3, .columns = 1, .nodes = 1, .width = 12},
    {.batch = 1, .tokens = 70, .columns = 17, .width = 1, .masked = true},
    {.tokens = 50, .columns = 8, .width = 0.6, .by_column = true, .masked = true},
    {.batch = 3, .tokens = 9, .heads = 3, .columns = 66, .nodes = 2, .width = 4.5},
    {.batch = 4, .tokens = 21, .columns = 67, .nodes = 2, .width = 6.5, .masked = true, .masks = 4},
};

// The greatest error of the coefficients, relative to the norm of all.
template <class Problem>
double error_of(laplace_size const& size, bool two_sided, support::arrangement lies) {
  using Io = std::remove_cvref_t<decltype(std::declval<Problem&>().x[0])>;
  Problem const p(size);
  auto const op = p.make(0, p.tokens);
  using Out = output_type<operator_of<Problem>>;
  support::tensor<Out> output(p.batch, p.tokens, p.heads, op.output_columns(), lies);
  if (two_sided)
    run_two_sided(op, output.view());
  else
    run(op, output.view());
  support::nearness near;
  for (index b = 0; b < p.batch; ++b)
    for (index h = 0; h < p.heads; ++h) {
      auto const naive =
          support::naive_coefficients<long double, Io, Problem::window>(p, b, h, two_sided);
      for (index n = 0, i = 0; n < p.tokens; ++n)
        for (index c = 0; c < op.output_columns(); ++c)
          near.add(static_cast<double>(output(b, n, h, c)),
                   static_cast<double>(naive[static_cast<std::size_t>(i++)]));
    }
  EXPECT_TRUE(output.margins_untouched());
  return near.both();
}

template <class Problem>
class LaplaceCoefficientsLaws : public ::testing::Test {};
using EveryWindow = ::testing::Types<coefficients_problem<float, window_shape::none>,
                                     coefficients_problem<double, window_shape::none>,
                                     coefficients_problem<bfloat16, window_shape::exponential>,
                                     coefficients_problem<float, window_shape::rectangular>,
                                     coefficients_problem<float, window_shape::hann>,
                                     coefficients_problem<double, window_shape::hann>>;
TYPED_TEST_SUITE(LaplaceCoefficientsLaws, EveryWindow);

TYPED_TEST(LaplaceCoefficientsLaws, Hold) {
  using T = real_type<accumulate_type<operator_of<TypeParam>>>;
  for (index i = 0; laplace_size const& size : sizes)
    support::expect_to_hold(check_laws(TypeParam(size), sizeof(T) == 4 ? 1e-6 : 1e-12),
                            "case " + std::to_string(i++) + ", ");
}

// Sums of up to 90 terms.
TYPED_TEST(LaplaceCoefficientsLaws, AreTheEquation) {
  using T = real_type<accumulate_type<operator_of<TypeParam>>>;
  for (laplace_size const& size : sizes)
    for (bool two_sided : {false, true})
      for (auto lies : support::all_arrangements)
        EXPECT_LE(error_of<TypeParam>(size, two_sided, lies), sizeof(T) == 4 ? 4e-7 : 2e-15)
            << two_sided;
}

template <class Problem>
class LaplaceCoefficientsAdjointLaws : public ::testing::Test {};
using EveryWindowInDouble =
    ::testing::Types<coefficients_problem<double, window_shape::none>,
                     coefficients_problem<double, window_shape::exponential>,
                     coefficients_problem<double, window_shape::rectangular>,
                     coefficients_problem<double, window_shape::hann>>;
TYPED_TEST_SUITE(LaplaceCoefficientsAdjointLaws, EveryWindowInDouble);

TEST(LaplaceCoefficients, KeepTheLawsOverRanks) {
  support::expect_to_hold(
      check_sharded_laws(coefficients_problem<double, window_shape::hann>(sizes[0]), 1e-11));
}

TYPED_TEST(LaplaceCoefficientsAdjointLaws, Hold) {
  for (index i = 0; laplace_size const& size : sizes) {
    TypeParam problem(size);
    support::expect_to_hold(check_adjoint_laws(problem), "case " + std::to_string(i++) + ", ");
  }
}

// The error of a rounded pole acts in the same way at every token.
TEST(LaplaceCoefficients, StepKeepsASlowNodeThatTurnsForLong) {
  constexpr wane::index tokens = 100000, piece = 10000;
  float const sigma = 1e-6f, omega = 0.3f;
  double const wide_sigma = double(sigma), wide_omega = double(omega);
  std::complex<double> exact = 0;
  std::complex<double> const pole = std::exp(std::complex<double>(-wide_sigma, -wide_omega));
  std::complex<float> const one(1);
  std::vector<float> x(piece), y(2);
  auto const token = [&](wane::index t) {
    return wane::laplace_coefficients(wane::laplace<float>(
        {.value = wane::sequence_view<float const>(x.data(), 1, piece, 1, 1).tokens(t, t + 1)},
        {.sigma = {&sigma, 1, 1}, .omega = {&omega, 1, 1}, .read_out = {&one, 1, 1, 1}}));
  };
  wane::recurrent_state<std::complex<float>> state(token(0));
  support::random_values random(5);
  double largest = 0;
  for (wane::index n = 0; n < tokens; n += piece) {
    for (float& each : x) each = static_cast<float>(random.uniform(-1, 1));
    for (wane::index t = 0; t < piece; ++t) {
      wane::step(token(t), {y.data(), 1, 1, 1, 2}, state);
      exact = pole * exact + double(x[static_cast<std::size_t>(t)]);
      largest = std::max(largest, std::abs(exact));
    }
  }
  EXPECT_NEAR(y[0], exact.real(), 1e-5 * largest);
  EXPECT_NEAR(y[1], exact.imag(), 1e-5 * largest);
}

}  // namespace
}  // namespace wane::testing
