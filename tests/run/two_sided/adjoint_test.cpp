// adjoint_two_sided is the derivative of the sum over lags behind and ahead.
// SPDX-License-Identifier: MIT
#include "wane/run/two_sided/adjoint.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "support/expect_error.hpp"
#include "support/two_sided_sum.hpp"

namespace wane {
namespace {

using spectra::window_shape;
using support::laplace_problem, support::laplace_size, support::two_sided_sum;

constexpr future_phase phases[] = {future_phase::conjugate, future_phase::same};

laplace_size const sizes[] = {
    {.batch = 2, .tokens = 23, .columns = 3, .nodes = 2},
    {.batch = 1, .tokens = 4, .heads = 1, .columns = 2, .width = 9},
    {.batch = 1, .tokens = 1, .heads = 1, .columns = 1, .nodes = 1},
    {.batch = 1, .tokens = 21, .heads = 1, .columns = 9, .width = 1, .by_column = true},
    {.tokens = 12, .heads = 1, .columns = 2, .width = 0.6, .masked = true},
    {.batch = 1, .tokens = 17, .columns = 3, .width = 4.5, .by_column = true, .masked = true},
    {.batch = 3, .tokens = 9, .columns = 3, .nodes = 2, .width = 4.5, .masked = true, .masks = 3},
};

template <class T>
std::vector<T> weights(std::size_t count) {
  support::random_values random{5};
  std::vector<T> dy;
  for (std::size_t i = 0; i < count; ++i) dy.push_back(support::stored<T>(random.uniform(-1, 1)));
  return dy;
}

template <class Io, window_shape Window>
void differentiate(laplace_problem<Io, Window>& p, future_phase phase, std::vector<Io>& dy,
                   adjoint_options<accumulate_type<laplace<Io, Window>>> const& options = {}) {
  auto const op = p.make(0, p.tokens);
  adjoint_two_sided(op, op.future(phase),
                    sequence_view<Io>(dy.data(), p.batch, p.tokens, p.heads, p.columns),
                    p.gradients(), options);
}

// Compares gradients with central differences of the sum in long double. The step is 6e-8, so third
// derivatives add an error of 1e-14, and rounding adds 1e-11.
template <class Problem>
void expect_derivative(Problem p, future_phase phase, std::vector<impl::token_range> const& parts,
                       double bound,
                       adjoint_options<accumulate_type<typename Problem::operation>> const& how) {
  using Io = std::remove_cvref_t<decltype(p.x[0])>;
  auto dy = weights<Io>(p.x.size());
  for (auto gradient : p.input_gradients()) std::fill(gradient.begin(), gradient.end(), Io(-7));
  differentiate(p, phase, dy, how);
  two_sided_sum<long double> sum(p, phase, parts);
  auto const loss = [&] {
    auto const z = sum();
    long double total = 0;
    for (std::size_t i = 0; i < z.size(); ++i) total += z[i] * static_cast<long double>(dy[i]);
    return total;
  };
  auto const found = p.input_gradients();
  char const* const names[] = {"value", "sigma", "omega", "read_out", "width", "mask"};
  for (std::size_t which = 0; which < 6; ++which)
    for (std::size_t i = 0; i < found[which].size(); ++i) {
      long double& x = sum.in[which][i];
      long double const held = x, step = 0x1p-24L;
      x = held + step;
      long double const above = loss();
      x = held - step;
      auto const slope = static_cast<double>((above - loss()) / (2 * step));
      x = held;
      if (which == 0 && slope == 0 && found[which][i] == -7) continue;  // padding is not written
      EXPECT_NEAR(static_cast<double>(found[which][i]), slope, bound * (1 + std::abs(slope)))
          << names[which] << " " << i;
    }
}

template <class Problem>
class TwoSidedAdjoint : public ::testing::Test {};
using EveryWindow = ::testing::Types<laplace_problem<double, window_shape::none>,
                                     laplace_problem<double, window_shape::exponential>,
                                     laplace_problem<double, window_shape::rectangular>,
                                     laplace_problem<double, window_shape::hann>>;
TYPED_TEST_SUITE(TwoSidedAdjoint, EveryWindow);

TYPED_TEST(TwoSidedAdjoint, IsTheDerivativeOfTheSum) {
  for (laplace_size const& size : sizes)
    for (future_phase phase : phases) expect_derivative(TypeParam(size), phase, {}, 1e-9, {});
}

TYPED_TEST(TwoSidedAdjoint, PackedSequencesDoNotSeeEachOther) {
  index const starts[] = {0, 1, 1, 9, 20};
  for (future_phase phase : phases)
    expect_derivative(TypeParam({.batch = 1, .tokens = 20, .columns = 2}), phase,
                      {{0, 0, 1}, {0, 1, 9}, {0, 9, 20}}, 1e-9, {.packed = {starts}});
}

TYPED_TEST(TwoSidedAdjoint, PackedSequencesHaveAMaskEach) {
  index const starts[] = {0, 1, 1, 9, 20};
  for (future_phase phase : phases)
    expect_derivative(
        TypeParam({.batch = 1, .tokens = 20, .columns = 2, .masked = true, .masks = 4}), phase,
        {{0, 0, 1}, {0, 1, 1}, {0, 1, 9}, {0, 9, 20}}, 1e-9, {.packed = {starts}});
}

TYPED_TEST(TwoSidedAdjoint, PaddingHasNoGradient) {
  index const lengths[] = {15, 0, 20};
  for (future_phase phase : phases) {
    TypeParam p({.batch = 3, .tokens = 20, .columns = 2});
    expect_derivative(p, phase, {{0, 0, 15}, {2, 0, 20}}, 1e-9, {.lengths = lengths});
    auto dy = weights<double>(p.x.size());
    std::fill(p.to_x.begin(), p.to_x.end(), -7);
    differentiate(p, phase, dy, {.lengths = lengths});
    for (std::size_t i = 15 * 4; i < 40 * 4; ++i) EXPECT_EQ(p.to_x[i], -7) << i;
  }
}

TYPED_TEST(TwoSidedAdjoint, PastAndFutureChangePlacesInReverse) {
  TypeParam p({.batch = 1, .tokens = 20, .heads = 1, .columns = 1});
  TypeParam turned = p;
  auto dy = weights<double>(p.x.size());
  differentiate(p, future_phase::conjugate, dy);
  std::reverse(turned.x.begin(), turned.x.end()), std::reverse(dy.begin(), dy.end());
  differentiate(turned, future_phase::conjugate, dy, {.direction = direction::reverse});
  std::reverse(turned.to_x.begin(), turned.to_x.end());
  for (std::size_t which = 0; auto const& gradient : p.input_gradients()) {
    auto const other = turned.input_gradients()[which++];
    for (std::size_t i = 0; i < gradient.size(); ++i)
      EXPECT_NEAR(gradient[i], other[i], 1e-12 * (1 + std::abs(other[i])));
  }
}

TYPED_TEST(TwoSidedAdjoint, ThreadsDoNotChangeABit) {
  TypeParam p({.tokens = 90, .columns = 70, .by_column = true});
  TypeParam other = p;
  auto dy = weights<double>(p.x.size());
  differentiate(p, future_phase::conjugate, dy, {.threads = 1});
  for (int threads : {0, 2, 5}) {
    differentiate(other, future_phase::conjugate, dy, {.threads = threads});
    for (std::size_t which = 0; auto const& gradient : p.input_gradients())
      EXPECT_EQ(std::memcmp(gradient.data(), other.input_gradients()[which++].data(),
                            gradient.size_bytes()),
                0);
  }
}

// The loss may depend on the final state of the past, and the past may have an initial state. These
// states change the gradients by as much as in the adjoint of the past alone.
TYPED_TEST(TwoSidedAdjoint, StatesAreThoseOfThePast) {
  using State = accumulate_type<typename TypeParam::operation>;
  TypeParam p({.batch = 1, .tokens = 30, .columns = 3});
  TypeParam without = p, alone = p, alone_without = p;
  auto const op = p.make(0, p.tokens);
  recurrent_state<State> initial(op), of_final(op), of_initial(op), of_initial_alone(op);
  std::mt19937_64 bits(3);
  p.begin(initial, bits), p.begin(of_final, bits);
  auto dy = weights<double>(p.x.size());
  adjoint_options<State> const options{.initial = std::as_const(initial),
                                       .final_gradient = std::as_const(of_final),
                                       .initial_gradient = of_initial};
  auto with_other_end = options;
  with_other_end.initial_gradient = of_initial_alone;
  differentiate(p, future_phase::conjugate, dy, options);
  differentiate(without, future_phase::conjugate, dy);
  sequence_view<double> const dy_view(dy.data(), 1, p.tokens, p.heads, p.columns);
  adjoint(op, dy_view, alone.gradients(), with_other_end);
  adjoint(op, dy_view, alone_without.gradients());
  EXPECT_EQ(of_initial.values(), of_initial_alone.values());
  for (std::size_t which = 0; which < 6; ++which)
    for (std::size_t i = 0; i < p.input_gradients()[which].size(); ++i) {
      double const by_states =
          alone.input_gradients()[which][i] - alone_without.input_gradients()[which][i];
      double const found = p.input_gradients()[which][i] - without.input_gradients()[which][i];
      EXPECT_NEAR(found, by_states, 1e-10 * (1 + std::abs(by_states))) << which << " " << i;
    }
}

TEST(TwoSidedAdjointInFloat, IsTheDerivativeOfTheSum) {
  // Sums of 23 tokens' products, each rounded.
  for (future_phase phase : phases) {
    expect_derivative(laplace_problem<float, window_shape::none>(sizes[0]), phase, {}, 3e-6, {});
    expect_derivative(laplace_problem<float, window_shape::hann>(sizes[0]), phase, {}, 3e-6, {});
  }
}

TEST(TwoSidedAdjointGradients, MayBeAbsentEachAlone) {
  using problem = laplace_problem<double, window_shape::hann>;
  problem p({.batch = 1, .tokens = 20, .masked = true});
  auto dy = weights<double>(p.x.size());
  differentiate(p, future_phase::conjugate, dy);
  auto const op = p.make(0, p.tokens);
  for (int which = 0; which < 6; ++which) {
    problem q({.batch = 1, .tokens = 20, .masked = true});
    auto g = q.gradients();
    if (which != 0) g.value = {};
    if (which != 1) g.nodes.sigma = {};
    if (which != 2) g.nodes.omega = {};
    if (which != 3) g.nodes.read_out = {};
    if (which != 4) g.nodes.width = {};
    if (which != 5) g.nodes.mask = {};
    adjoint_two_sided(op, op.future(),
                      sequence_view<double>(dy.data(), 1, p.tokens, p.heads, p.columns), g);
    auto const all = p.input_gradients(), one = q.input_gradients();
    auto const i = static_cast<std::size_t>(which);
    EXPECT_TRUE(std::equal(all[i].begin(), all[i].end(), one[i].begin())) << which;
  }
}

TEST(TwoSidedAdjointWrongInput, IsRefusedBeforeAnythingIsWritten) {
  using problem = laplace_problem<double, window_shape::hann>;
  problem p({.batch = 1, .tokens = 9}), other({.batch = 1, .tokens = 9});
  std::fill(p.to_x.begin(), p.to_x.end(), -7);
  auto const op = p.make(0, 9);
  std::vector<double> dy(p.x.size());
  auto const view = [&](index tokens) {
    return sequence_view<double>(dy.data(), 1, tokens, p.heads, p.columns);
  };
  using State = accumulate_type<problem::operation>;
  using support::expect_error;
  expect_error({"past and future", "different values"},
               [&] { adjoint_two_sided(op, other.make(0, 9), view(9), p.gradients()); });
  expect_error({"output_gradient", "8", "9"},
               [&] { adjoint_two_sided(op, op.future(), view(8), p.gradients()); });
  recurrent_state<State> wrong(2, p.heads, op.shape().rows, p.columns);
  expect_error({"final_gradient", "sequences"}, [&] {
    adjoint_two_sided(op, op.future(), view(9), p.gradients(),
                      adjoint_options<State>{.final_gradient = std::as_const(wrong)});
  });
  auto g = p.gradients();
  g.nodes.sigma = {p.to_sigma.data(), 1, 1};
  expect_error({"the gradient of sigma"}, [&] { adjoint_two_sided(op, op.future(), view(9), g); });
  for (double v : p.to_x) EXPECT_EQ(v, -7);
}

}  // namespace
}  // namespace wane
