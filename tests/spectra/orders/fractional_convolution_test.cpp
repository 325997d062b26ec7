// The convolution with an order for each token against the sum that it is.
// SPDX-License-Identifier: MIT
#include "wane/spectra/orders/fractional_convolution.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "support/expect_error.hpp"
#include "support/nearness.hpp"
#include "support/random_values.hpp"
#include "support/tensor.hpp"

namespace {

using support::index;
using support::tensor;
using wane::sequence_view, wane::token_view;
using namespace wane::spectra;
using namespace wane::spectra::impl;

// The orders of [B, T, H, 1].
template <class Io>
token_view<Io const> orders_of(tensor<Io> const& alpha) {
  auto const v = alpha.view();
  return {v.data, {v.extent[0], v.extent[1], v.extent[2]}, {v.stride[0], v.stride[1], v.stride[2]}};
}

// At every `stride`-th token; relative to the outputs.
template <class Io>
double error(tensor<Io> const& value, token_view<Io const> alpha, tensor<Io> const& y,
             index stride = 1) {
  auto const& [batch, tokens, heads, columns] = value.view().extent;
  support::nearness near;
  for (index b = 0; b < batch; ++b)
    for (index h = 0; h < heads; ++h) {
      std::vector<gruenwald_letnikov> kernels;
      for (index i = 0; i < tokens; ++i) kernels.emplace_back(double(alpha(b, i, h)));
      for (index j = 0; j < columns; ++j)
        for (index t = stride - 1; t < tokens; t += stride) {
          double sum = 0;
          for (index i = 0; i <= t; ++i)
            sum += kernels[std::size_t(i)](t - i) * double(value(b, i, h, j));
          near.add(double(y(b, t, h, j)), sum);
        }
    }
  return near.both();
}

template <class Io>
struct problem {
  tensor<Io> value, alpha, y;

  problem(index batch, index tokens, index heads, index columns, double least, double most,
          support::arrangement how = support::arrangement::plain)
      : value(batch, tokens, heads, columns, how),
        alpha(batch, tokens, heads, 1, how),
        y(batch, tokens, heads, columns, how) {
    support::random_values random(3);
    value.fill([&](auto...) { return random.uniform(-1, 1); });
    alpha.fill([&](auto...) { return random.uniform(least, most); });
  }
  void run() { fractional_convolution<Io>(value.view(), orders_of(alpha), y.view()); }
};

TEST(FractionalConvolution, IsItsSum) {
  for (auto how : {support::arrangement::plain, support::arrangement::backwards})
    for (index tokens : {1, 2, 3, 65, 127})
      for (double most : {0.1, 0.4, 1.}) {
        problem<double> p(2, tokens, 3, 2, 1e-3, most, how);
        p.run();
        EXPECT_LT(error(p.value, orders_of(p.alpha), p.y), 1e-14) << tokens << " " << most;
      }
  problem<float> p(1, 500, 2, 3, 0.1, 1);
  p.run();
  EXPECT_LT(error(p.value, orders_of(p.alpha), p.y), 1e-7);
}

TEST(FractionalConvolution, IsItsSumOverManyTokens) {
  problem<double> p(1, 5000, 1, 1, 0.1, 1);
  p.run();
  EXPECT_LT(error(p.value, orders_of(p.alpha), p.y), 1e-14);
}
// Rounding of the transforms is all there is: 3e-14.
TEST(FractionalConvolution, IsItsSumOverAMillionTokens) {
  problem<double> p(1, 1000000, 1, 1, 0.1, 1);
  p.run();
  EXPECT_LT(error(p.value, orders_of(p.alpha), p.y, 333333), 1e-13);
}

// One order for all, by strides of 0: the convolution itself.
TEST(FractionalConvolution, OfOneOrderIsOneConvolution) {
  constexpr index tokens = 300;
  problem<double> p(1, tokens, 1, 1, 0.5, 0.5);
  double const order = 0.6;
  token_view<double const> const alpha(&order, {1, tokens, 1}, {0, 0, 0});
  EXPECT_EQ(interpolated_orders(std::vector<double>(tokens, order), tokens).size(), 1u);
  fractional_convolution<double>(p.value.view(), alpha, p.y.view());
  std::vector<double> kernel, x;
  for (index t = 0; t < tokens; ++t)
    kernel.push_back(gruenwald_letnikov(order)(t)), x.push_back(p.value(0, t, 0, 0));
  auto const wanted = causal_convolution(kernel, x);
  for (index t = 0; t < tokens; ++t)
    EXPECT_NEAR(p.y(0, t, 0, 0), wanted[std::size_t(t)], 1e-14) << t;
}

// Few orders are convolved one by one; many share Chebyshev's points, as many as the bound asks.
TEST(InterpolatedOrders, AreThoseGivenOrChebyshevs) {
  EXPECT_EQ(interpolated_orders({0.3, 0.9, 0.3, 0.5}, 1000).size(), 3u);
  std::vector<double> many;
  for (int i = 0; i <= 900; ++i) many.push_back(0.1 + i / 1000.);
  for (auto [lags, size] : {std::pair<std::int64_t, std::size_t>{1000, 23}, {1000000, 29}}) {
    interpolated_orders const nodes(many, lags);
    EXPECT_EQ(nodes.size(), size);
    double worst = 0;
    for (double alpha : many)
      for (std::int64_t lag = 0; lag < lags; lag += 1 + lag / 2) {
        double sum = 0, parts = 0;
        for (std::size_t m = 0; m < size; ++m) {
          double const part = nodes.part(m, alpha);
          if (std::isinf(part)) sum = HUGE_VAL;  // at a node nothing is interpolated
          sum += part * gruenwald_letnikov(nodes.order(m))(lag), parts += part;
        }
        if (std::isfinite(sum))
          worst = std::max(worst, std::abs(sum / parts - gruenwald_letnikov(alpha)(lag)));
      }
    EXPECT_LT(worst, 1e-14) << lags;  // roundings of the nodes, times the slope in alpha
  }
}

TEST(FractionalConvolution, RefusesWhatDoesNotFit) {
  problem<double> p(2, 5, 3, 2, 0.1, 1), other(2, 4, 3, 2, 0.1, 1);
  support::expect_error({"alpha has time 4", "it must be 5"}, [&] {
    fractional_convolution<double>(p.value.view(), orders_of(other.alpha), p.y.view());
  });
  support::expect_error({"y has time 4", "it must be 5"}, [&] {
    fractional_convolution<double>(p.value.view(), orders_of(p.alpha), other.y.view());
  });
  for (double wrong : {0., 1.5, double(NAN)}) {
    p.alpha(1, 3, 2, 0) = wrong;
    support::expect_error({"alpha at batch 1, time 3, head 2 is", "in (0, 1]"}, [&] { p.run(); });
  }
  EXPECT_TRUE(std::isnan(p.y(0, 0, 0, 0)));
  problem<double> none(1, 0, 1, 1, 0.1, 1);
  EXPECT_NO_THROW(none.run());
}

}  // namespace
