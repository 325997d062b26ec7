// Fits, orders and convolutions whose requests for memory fail: they throw, and lose nothing.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/failing_calls.hpp"
#include "wane/spectra.hpp"

namespace wane::spectra {
namespace {

using numbers = std::vector<double>;

// The numbers that `find` returns are there as a whole, or not at all.
template <class Find>
void expect_result_or_nothing(Find const& find) {
  numbers found;
  found.reserve(1000);
  support::expect_all_or_nothing({[&] { found.clear(); },
                                  [&] {
                                    numbers const made = find();
                                    found.assign(made.begin(), made.end());
                                  },
                                  [&] { return support::bytes_of(found); }});
}

TEST(WithoutMemory, FitsThrow) {
  expect_result_or_nothing(
      [] { return fit(geometric(4, unit_range(100)), power_law(0.5), 100).weights; });
}
TEST(WithoutMemory, SumsOfExponentialsThrow) {
  for (construction const way : {construction::closed_form, construction::minimax})
    expect_result_or_nothing(
        [=] { return sum_of_terms(power_law(0.5), 50, 3, sum_options{.built = way}).weights; });
  expect_result_or_nothing(
      [] { return sum_of_accuracy(gruenwald_letnikov(0.4), 100, 1e-2).weights; });
}
TEST(WithoutMemory, OrdersThrow) {
  expect_result_or_nothing([] { return shared_rates(4, 100).rates(); });
  shared_rates const shared(4, 100);
  expect_result_or_nothing([&] {
    order_weights<double> const weights(shared);
    numbers some;
    auto const table = weights.table();
    for (index i = 0; i < 4; ++i) some.push_back(table.at(0.3).weight(i));
    return some;
  });
}
TEST(WithoutMemory, ConvolutionsThrow) {
  numbers const kernel = {1, 0.5, 0.25, 0.125, 0.0625}, x = {1, 2, 3, 4, 5, 6, 7};
  expect_result_or_nothing([&] { return causal_convolution(kernel, x); });
}

}  // namespace
}  // namespace wane::spectra
