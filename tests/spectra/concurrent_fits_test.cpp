// Fits, tables and rates found by several threads at once, the first ones of a process.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <vector>

#include "support/at_once.hpp"
#include "wane/spectra/fit/sum_of_exponentials.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"
#include "wane/spectra/orders/order_weights.hpp"
#include "wane/spectra/rates/best_range.hpp"
#include "wane/spectra/rates/post.hpp"

namespace {

using namespace wane::spectra;
using numbers = std::vector<double>;

// find(i) on four threads at once, each with another i, is what find(i) gives afterwards.
void expect_same_at_once(auto const& find) {
  std::vector<numbers> found(4);
  support::at_once(4, [&](int i) { found[static_cast<std::size_t>(i)] = find(i); });
  for (int i = 0; i < 4; ++i) EXPECT_EQ(found[static_cast<std::size_t>(i)], find(i)) << i;
}

numbers of(exponential_sum const& sum) {
  numbers all = sum.rates;
  all.insert(all.end(), sum.weights.begin(), sum.weights.end());
  return all;
}

TEST(ConcurrentFits, OfSums) {
  expect_same_at_once([](int i) {
    return of(sum_of_accuracy(gruenwald_letnikov(0.3 + 0.1 * i), 1000 << i, 1e-4));
  });
}
TEST(ConcurrentFits, OfMinimaxSums) {
  expect_same_at_once([](int i) {
    return of(
        sum_of_terms(gruenwald_letnikov(0.3 + 0.1 * i), 1000, 5, {.built = construction::minimax}));
  });
}
TEST(ConcurrentFits, OfOrders) {
  shared_rates const shared(8, 1000);  // one object, read by all
  expect_same_at_once([&](int) {
    order_weights<double> const weights(shared);
    auto const table = weights.table();
    return numbers(table.cubics.data, table.cubics.data + 128 * 4 * 9);
  });
}
TEST(ConcurrentFits, OfRates) {
  expect_same_at_once([](int i) {
    auto const range = best_range(4 + i, 500, 0.5);
    auto rates = post(8 + i, 1000);
    rates.push_back(range.low), rates.push_back(range.high);
    return rates;
  });
}

}  // namespace
