// Strips of memories that decay by element, with and without tokens that reset.
// SPDX-License-Identifier: MIT
#include "wane/run/elements/run.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/element_memory.hpp"
#include "wane/run/in_order/run.hpp"

namespace {

using support::element_inputs;
using support::element_memory;
using support::fades;
using support::index;
using support::tensor;

template <class T>
using memory = element_memory<T, fades::by_rate, false>;
template <class T>
class Elements : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Elements, Scalars);

constexpr index columns = 70, rows = 5;

template <class T>
struct results {
  tensor<T> output;
  wane::recurrent_state<T> state;

  results(memory<T> const& op, wane::recurrent_state<T> const& initial, bool in_order = false)
      : output(1, op.shape().time, 2, columns), state(initial) {
    wane::sequence_view<T> const y = output.view();
    wane::run_options<T> const options{.initial = initial, .final = state, .threads = 1};
    in_order ? wane::impl::run_in_order(op, y, options) : wane::impl::run_elements(op, y, options);
  }
};

// The strips of the first and the last column take the general way.
TYPED_TEST(Elements, HaveTheSameBitsBesideAColumnThatResets) {
  using T = TypeParam;
  element_inputs<T> const in(1, 20, 2, rows, columns), other(1, 20, 2, rows, columns);
  for (index h = 0; h < 2; ++h)
    for (index i = 0; i < rows; ++i) other.rate(0, i, h, 0) = other.rate(0, i, h, 69) = T(-1e4);
  wane::recurrent_state<T> const zero(1, 2, rows, columns);
  results<T> const a(memory<T>{in}, zero), b(memory<T>{other}, zero);
  for (index t = 0; t < 20; ++t)
    for (index h = 0; h < 2; ++h)
      for (index j = 1; j < 69; ++j) EXPECT_EQ(a.output(0, t, h, j), b.output(0, t, h, j)) << j;
  for (index n = 0; n < 2 * rows; ++n)
    for (index j = 1; j < 69; ++j) {
      auto const at = static_cast<std::size_t>(n * columns + j);
      EXPECT_EQ(a.state.values()[at], b.state.values()[at]) << j;
    }
}

// Around the least decay, at resets, growing and of NaN, from states that are not all finite.
TYPED_TEST(Elements, AgreeWithThePlainOrderAtEveryDecay) {
  using T = TypeParam;
  constexpr T infinity = std::numeric_limits<T>::infinity(),
              nan = std::numeric_limits<T>::quiet_NaN();
  T const edge = sizeof(T) == 4 ? T(-87) : T(-708);
  for (T log : {T(0), T(-1), edge + T(0.5), edge, edge - T(0.3), edge - T(0.68), edge - T(0.7),
                edge - T(0.9), edge - T(1.1), T(-1e4), -infinity, T(0.5), T(100), nan})
    for (T step : {T(1), T(-1), T(0), nan}) {
      element_inputs<T> in(1, 1, 2, rows, columns);
      in.step.fill([&](auto...) { return step; });
      in.rate.fill([&](auto...) { return log; });
      wane::recurrent_state<T> initial(1, 2, rows, columns);
      T const of[] = {T(1), nan, T(-2), infinity, T(0.5), T(0), T(3)};
      for (std::size_t n = 0; n < initial.values().size(); ++n) initial.values()[n] = of[n % 7];
      results<T> const is(memory<T>{in}, initial), must_be(memory<T>{in}, initial, true);
      auto const expect_near = [&](T x, T y) {
        if (std::isfinite(y))
          EXPECT_NEAR(x, y, 1e-6 * (1 + std::abs(y))) << log << " x " << step;
        else
          EXPECT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << log << " x " << step;
      };
      is.output.for_each([&](index b, index t, index h, index j) {
        expect_near(is.output(b, t, h, j), must_be.output(b, t, h, j));
      });
      for (std::size_t n = 0; n < initial.values().size(); ++n)
        expect_near(is.state.values()[n], must_be.state.values()[n]);
    }
}

}  // namespace
