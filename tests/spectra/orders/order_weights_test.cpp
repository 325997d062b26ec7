// order_weights: as good as the least squares they interpolate, with the slopes of what they give.
// SPDX-License-Identifier: MIT
#include "wane/spectra/orders/order_weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace {

using wane::index;
using wane::spectra::gruenwald_letnikov;
using wane::spectra::order_table;
using wane::spectra::order_weights;
using wane::spectra::shared_rates;

struct deviation {
  double value = 0, slope = 0;  // relative, the largest
};

// Of the kernel of one order, on lags from 1 to the horizon.
template <class Weight, class Slope>
void add(deviation& to, shared_rates const& shared, double alpha, Weight const& weight,
         Slope const& slope) {
  gruenwald_letnikov const kernel(alpha);
  for (std::int64_t lag = 1; lag < shared.horizon(); lag += 1 + lag / 6) {
    double value = 0, change = 0;
    for (std::size_t s = 0; s < shared.rates().size(); ++s) {
      double const left = std::exp(-shared.rates()[s] * static_cast<double>(lag));
      value += weight(s) * left, change += slope(s) * left;
    }
    to.value = std::max(to.value, std::abs(value / kernel(lag) - 1));
    to.slope = std::max(to.slope, std::abs(change / kernel.derivative(lag) - 1));
  }
}

template <class T>
void expect_no_loss(shared_rates const& shared) {
  order_weights<T> const weights(shared);
  order_table<T> const table = weights.table();
  deviation exact, found;
  for (double part = 0; part <= 1; part += 0.0037) {
    T const alpha = static_cast<T>(shared.least_alpha() + part * (1 - shared.least_alpha()));
    double const rounded = std::clamp(static_cast<double>(alpha), shared.least_alpha(), 1.);
    auto const of = shared.at(rounded);
    auto const order = table.at(alpha);
    add(
        exact, shared, rounded, [&](std::size_t s) { return of.weights[s]; },
        [&](std::size_t s) { return of.slopes[s]; });
    add(
        found, shared, rounded,
        [&](std::size_t s) { return static_cast<double>(order.weight(static_cast<index>(s))); },
        [&](std::size_t s) { return static_cast<double>(order.slope(static_cast<index>(s))); });
  }
  EXPECT_LT(found.value, 1.01 * exact.value);
  EXPECT_LT(found.slope, 1.01 * exact.slope);
}

TEST(OrderWeights, AreAsGoodAsTheLeastSquaresTheyInterpolate) {
  for (std::int64_t terms : {16, 19}) {
    shared_rates const shared(terms, 1000000);
    expect_no_loss<float>(shared);
    expect_no_loss<double>(shared);
  }
  expect_no_loss<double>(shared_rates(12, 10000, 0.02));
}

TEST(OrderWeights, GiveTheSlopesOfWhatTheyGive) {
  shared_rates const shared(8, 1000);
  order_weights<double> const weights(shared);
  auto const table = weights.table();
  double const h = 1e-6;
  for (double alpha : {0.1 + h, 0.1234, 0.5, 0.9999}) {
    double sum = 0;
    for (index s = 0; s <= 8; ++s) {
      double const rise = table.at(alpha + h).weight(s) - table.at(alpha - h).weight(s);
      // Differences of numbers around 1 over 2e-6.
      EXPECT_NEAR(table.at(alpha).slope(s), rise / (2 * h), 2e-8) << alpha << " " << s;
      sum += table.at(alpha).weight(s);
    }
    EXPECT_NEAR(sum, 1, 1e-15);  // w_0
  }
}

TEST(OrderWeights, AreRatesAndWeightsInLanesToo) {
  shared_rates const shared(19, 1000);
  order_weights<float> const weights(shared);
  auto const table = weights.table();
  EXPECT_TRUE(std::ranges::equal(table.log_decay.extent, std::array<index, 4>{1, 1, 1, 19}));
  EXPECT_TRUE(std::ranges::equal(table.cubics.extent, std::array<index, 4>{128, 4, 1, 20}));
  auto const order = table.at(0.3f);
  for (int s = 0; s < 19; ++s)
    EXPECT_EQ(table.log_decay(0, 0, 0, s), static_cast<float>(-shared.rates()[std::size_t(s)]));
  auto const four = order.weight(wane::lanes<4>{3});
  auto const three = order.slope(wane::partial_lanes<4>{16, 3});
  for (int l = 0; l < 4; ++l) EXPECT_FLOAT_EQ(four[l], order.weight(index{3 + l}));
  for (int l = 0; l < 3; ++l) EXPECT_FLOAT_EQ(three[l], order.slope(index{16 + l}));
}

TEST(OrderWeights, TakeWhatRoundingPutBesideTheEndsAndNothingElse) {
  order_weights<float> const weights(shared_rates(8, 1000, 0.7));
  auto const table = weights.table();
  for (index s = 0; s <= 8; ++s) {
    EXPECT_EQ(table.at(0.69921875f).weight(s), table.at(0.7f).weight(s));  // bfloat16's 0.7
    EXPECT_EQ(table.at(1.003f).weight(s), table.at(1.f).weight(s));
    for (float alpha : {0.69f, 1.01f, -1.f, HUGE_VALF, -HUGE_VALF, NAN}) {
      EXPECT_TRUE(std::isnan(table.at(alpha).weight(s))) << alpha;
      EXPECT_TRUE(std::isnan(table.at(alpha).slope(s))) << alpha;
    }
  }
}

}  // namespace
