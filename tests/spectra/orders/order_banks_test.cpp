// order_banks: a token writes the bank of the nearest order, or both neighbours by their nearness.
// SPDX-License-Identifier: MIT
#include "wane/spectra/orders/order_banks.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "spectra/expect_refusal.hpp"
#include "wane/spectra/fit/sum_of_exponentials.hpp"
#include "wane/spectra/orders/quadrature_sums.hpp"

namespace {

using namespace wane::spectra;
using wane::index;

exponential_sum closed_form_of(double alpha) {
  return sum_of_terms(gruenwald_letnikov(alpha), 1000, 5);
}
exponential_sum papers(double alpha) { return vort_sum(alpha, 15, 1000, 1e-3); }

TEST(VortOrders, AreEvenStepsAboveTheLeast) {
  auto const orders = vort_orders(9, 0.1);
  ASSERT_EQ(orders.size(), 9u);
  for (std::size_t k = 0; k < 9; ++k)
    EXPECT_NEAR(orders[k], 0.1 * static_cast<double>(k + 2), 1e-15);
  EXPECT_EQ(orders.back(), 1);
  auto const covering = covering_orders(10, 0.1);
  ASSERT_EQ(covering.size(), 10u);
  EXPECT_EQ(covering.front(), 0.1);
  EXPECT_TRUE(std::equal(orders.begin(), orders.end(), covering.begin() + 1));
  expect_refusal([] { vort_orders(0, 0.1); }, {"banks is 0"});
  expect_refusal([] { covering_orders(1, 0.1); }, {"banks is 1", "at least 2"});
}

// Eq. 5 has no density at order 1: the last of the paper's banks would remember nothing.
TEST(VortSum, OfOrderOneForgetsNothing) {
  for (std::int64_t lag : {1, 10, 1000}) {
    EXPECT_EQ(vort_sum(1, 15, 1000, 1e-3)(lag), 1);
    EXPECT_EQ(gauss_legendre_sum(gruenwald_letnikov(1), 15, vort_range(1000, 1e-3))(lag), 0);
  }
  auto const sum = papers(0.4);
  EXPECT_EQ(sum.terms(), 15u);
  EXPECT_EQ(sum.rates.front(),
            gauss_legendre_sum(gruenwald_letnikov(0.4), 15, vort_range(1000, 1e-3)).rates.front());
}

// What bank k has written, in a row of weights of all banks.
template <class T>
void expect_bank(bank_table<T> const& table, T alpha, std::vector<double> const& orders,
                 std::size_t bank, lag_zero at_zero) {
  auto const order = table.at(alpha);
  index s = 0;
  for (std::size_t k = 0; k < orders.size(); ++k) {
    auto const sum = papers(orders[k]);
    for (std::size_t i = 0; i < sum.terms(); ++i, ++s) {
      EXPECT_EQ(table.log_decay(0, 0, 0, s), static_cast<T>(-sum.rates[i]));
      EXPECT_EQ(order.weight(s), k == bank ? static_cast<T>(sum.weights[i]) : T(0))
          << alpha << " " << k << " " << i;
      EXPECT_EQ(order.slope(s), T(0));
    }
  }
  EXPECT_EQ(s, table.nodes());
  T const direct = static_cast<T>(papers(orders[bank]).feed_through());
  EXPECT_EQ(order.weight(s), at_zero == lag_zero::of_sum ? T(0) : direct);
}

template <class T>
void expect_nearest(lag_zero at_zero) {
  std::vector<double> const orders = vort_orders(7, 0.1);
  order_banks<T> const banks(orders, 0.1, papers, at_zero);
  for (double a = 0.1; a <= 1; a += 0.01) {
    T const alpha = static_cast<T>(a);
    std::size_t nearest = 0;  // eq. 12's argmin, the first of equals
    for (std::size_t k = 1; k < orders.size(); ++k)
      if (std::abs(alpha - static_cast<T>(orders[k])) <
          std::abs(alpha - static_cast<T>(orders[nearest])))
        nearest = k;
    expect_bank(banks.table(routing::nearest), alpha, orders, nearest, at_zero);
  }
}

TEST(OrderBanks, TakeTheNearestOrder) {
  for (auto at_zero : {lag_zero::of_kernel, lag_zero::of_sum}) {
    expect_nearest<float>(at_zero);
    expect_nearest<double>(at_zero);
  }
}

TEST(OrderBanks, TakeTheLowerOfTwoThatAreAsNear) {
  std::vector<double> const orders{0.25, 0.5, 0.75, 1};
  order_banks<float> const banks(orders, 0.25, papers);
  for (std::size_t k = 0; k < 3; ++k) {
    float const middle = 0.375f + 0.25f * static_cast<float>(k);
    auto const table = banks.table(routing::nearest);
    expect_bank(table, middle, orders, k, lag_zero::of_kernel);
    expect_bank(table, std::nextafter(middle, 1.f), orders, k + 1, lag_zero::of_kernel);
  }
}

TEST(OrderBanks, MixNeighboursByTheirNearness) {
  std::vector<double> const orders{0.25, 0.5, 1};
  order_banks<double> const banks(orders, 0.1, closed_form_of);
  auto const table = banks.table(routing::linear), nearest = banks.table(routing::nearest);
  auto const expect_mix = [&](double alpha, double low, double high, double x, double scale) {
    auto const mixed = table.at(alpha), from = nearest.at(low), to = nearest.at(high);
    for (index s = 0; s <= table.nodes(); ++s) {
      double const a = from.weight(s), b = to.weight(s);
      EXPECT_NEAR(mixed.weight(s), (1 - x) * a + x * b, 1e-16) << alpha;
      EXPECT_NEAR(mixed.slope(s), (b - a) * scale, 1e-15) << alpha;
    }
  };
  expect_mix(0.375, 0.25, 0.5, 0.5, 4);
  expect_mix(0.5625, 0.5, 1, 0.125, 2);
  expect_mix(0.875, 0.5, 1, 0.75, 2);
  expect_mix(0.5, 0.25, 0.5, 1, 4);  // at a bank, the slope from below
  expect_mix(1, 0.5, 1, 1, 2);
}

TEST(OrderBanks, BelowTheFirstBankItIsTheFirstAlone) {
  order_banks<double> const banks({0.3, 1}, 0.1, closed_form_of);
  for (auto routed : {routing::nearest, routing::linear}) {
    auto const table = banks.table(routed);
    for (double alpha : {0.1, 0.2, 0.3})
      for (index s = 0; s <= table.nodes(); ++s) {
        EXPECT_EQ(table.at(alpha).weight(s), table.at(0.3).weight(s));
        EXPECT_EQ(table.at(alpha).slope(s), 0);
      }
  }
}

TEST(OrderBanks, AboveTheLastBankItIsTheLastAlone) {
  order_banks<double> const banks({0.3, 0.6}, 0.1, closed_form_of);
  auto const table = banks.table(routing::linear);
  for (index s = 0; s <= table.nodes(); ++s) {
    EXPECT_EQ(table.at(0.9).weight(s), table.at(0.6).weight(s));
    EXPECT_EQ(table.at(0.9).slope(s), 0);
  }
}

// The largest relative error of the kernel of any order, on lags to 1000.
double worst_of(std::int64_t banks, routing routed, double least) {
  auto const orders = vort_orders(banks, 0.1);
  order_banks<double> const of(orders, 0.1, [](double alpha) {
    return sum_of_accuracy(gruenwald_letnikov(alpha), 1000, 1e-7);
  });
  auto const table = of.table(routed);
  double worst = 0;
  for (double alpha = least; alpha <= 1; alpha += 0.0011)
    for (std::int64_t lag : {1, 10, 100, 1000}) {
      auto const order = table.at(alpha);
      double sum = 0;
      for (index s = 0; s < table.nodes(); ++s)
        sum += order.weight(s) * std::exp(table.log_decay(0, 0, 0, s) * static_cast<double>(lag));
      worst = std::max(worst, std::abs(sum / gruenwald_letnikov(alpha)(lag) - 1));
    }
  return worst;
}

// Theorem 4.1 has O(1/K) for the nearest.
TEST(OrderBanks, ErrByTheSquareOfTheirDistanceWhereTheyAreMixed) {
  double const nearest = worst_of(40, routing::nearest, 0.2) / worst_of(80, routing::nearest, 0.2);
  EXPECT_GT(nearest, 1.8);
  EXPECT_LT(nearest, 2.2);
  double const linear = worst_of(40, routing::linear, 0.2) / worst_of(80, routing::linear, 0.2);
  EXPECT_GT(linear, 3.6);
  EXPECT_LT(linear, 4.4);
}

// A whole step below the paper's first bank, half a step everywhere else.
TEST(OrderBanks, OfThePaperAreWorstForTheLowestOrders) {
  double const all = worst_of(40, routing::nearest, 0.1);
  EXPECT_GT(all, 1.8 * worst_of(40, routing::nearest, 0.1 + 0.9 / 40));
}

TEST(OrderBanks, AreWeightsInLanesToo) {
  order_banks<float> const banks(vort_orders(3, 0.1), 0.1, closed_form_of);
  auto const table = banks.table(routing::linear);
  auto const order = table.at(0.6f);
  auto const weights = order.weight(wane::lanes<4>{3});
  auto const slopes = order.slope(wane::partial_lanes<4>{6, 3});
  for (int l = 0; l < 4; ++l) EXPECT_EQ(weights[l], order.weight(index{3 + l}));
  for (int l = 0; l < 3; ++l) EXPECT_EQ(slopes[l], order.slope(index{6 + l}));
}

TEST(OrderBanks, TakeWhatRoundingPutBesideTheEndsAndNothingElse) {
  order_banks<float> const banks(vort_orders(3, 0.7), 0.7, closed_form_of);
  for (auto routed : {routing::nearest, routing::linear}) {
    auto const table = banks.table(routed);
    for (index s = 0; s <= table.nodes(); ++s) {
      EXPECT_EQ(table.at(0.69921875f).weight(s), table.at(0.7f).weight(s));  // bfloat16's 0.7
      EXPECT_EQ(table.at(1.003f).weight(s), table.at(1.f).weight(s));
      for (float alpha : {0.69f, 1.01f, -1.f, HUGE_VALF, -HUGE_VALF, NAN}) {
        EXPECT_TRUE(std::isnan(table.at(alpha).weight(s))) << alpha;
        EXPECT_TRUE(std::isnan(table.at(alpha).slope(s))) << alpha;
      }
    }
  }
}

struct one_further {
  template <class View>
  View whole(View x) const {
    ++x.data;
    return x;
  }
};

TEST(OrderBanks, AreMovedWithAllTheirTensors) {
  order_banks<double> const banks({0.3, 1}, 0.1, closed_form_of);
  auto const table = banks.table(routing::linear), moved = table.with_tensors(one_further{});
  EXPECT_EQ(moved.orders.data, table.orders.data + 1);
  EXPECT_EQ(moved.log_decay.data, table.log_decay.data + 1);
  EXPECT_EQ(moved.weights.data, table.weights.data + 1);
  EXPECT_EQ(moved.routed, routing::linear);
  EXPECT_EQ(moved.least, 0.1);
}

TEST(OrderBanks, RefuseWhatIsWrong) {
  using banks = order_banks<double>;
  expect_refusal([] { banks({}, 0.1, closed_form_of); }, {"orders is empty"});
  expect_refusal([] { banks({0.5}, 0, closed_form_of); }, {"least is 0"});
  expect_refusal([] { banks({0.05, 0.5}, 0.1, closed_form_of); }, {"orders[0] is 0.05", "0.1"});
  expect_refusal([] { banks({0.5, 0.5}, 0.1, closed_form_of); }, {"orders[1] is 0.5", "rise"});
  expect_refusal([] { banks({0.5, 1.5}, 0.1, closed_form_of); }, {"orders[1] is 1.5", "1"});
  expect_refusal([] { banks({0.5, NAN}, 0.1, closed_form_of); }, {"orders[1] is nan"});
  expect_refusal([] { banks({0.5}, 0.1, [](double) { return exponential_sum{}; }); },
                 {"the sum for order 0.5", "0 rates"});
  expect_refusal([] { banks({0.5}, 0.1, [](double) {
                        return exponential_sum{{1}, {}, 1, {}};
                      }); },
                 {"the sum for order 0.5", "1 rates and 0 weights"});
}

}  // namespace
