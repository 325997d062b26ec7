// PoST's map: order, inverse, adjoint.
// SPDX-License-Identifier: MIT
#include "wane/spectra/rates/post_map.hpp"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <vector>

#include "spectra/expect_refusal.hpp"

namespace {

using namespace wane::spectra;
using fifty_digits = boost::multiprecision::cpp_bin_float_50;

post_parameters const some{-6.5, {0.3, -2, 5, -30, 40, 0}};

TEST(PostMap, GivesIncreasingLogRatesWhateverTheParameters) {
  auto const p = log_rates(some);
  ASSERT_EQ(p.size(), 7u);
  EXPECT_EQ(p.front(), -6.5);
  for (std::size_t k = 1; k < p.size(); ++k) EXPECT_GT(p[k], p[k - 1]);
  EXPECT_DOUBLE_EQ(p[1] - p[0], std::log1p(std::exp(0.3)));
  EXPECT_EQ(log_rates({1.5, {}}), std::vector<double>{1.5});
}

TEST(PostMap, HasAnInverse) {
  auto const back = parameters_of(log_rates(some));
  EXPECT_EQ(back.slowest, some.slowest);
  for (std::size_t k = 0; k < some.gaps.size(); ++k)  // a gap of e^-30 beside rates of e^40
    EXPECT_NEAR(back.gaps[k], some.gaps[k], some.gaps[k] < -20 ? 0.2 : 1e-13);
  for (double y : {1e-300, 1e-9, 0.5, 3.0, 800.0})
    EXPECT_NEAR(softplus(inverse_softplus(y)) / y, 1, 1e-13);
  expect_refusal([] { (void)parameters_of({0, 1, 1}); }, {"log_rates[2] is 1 after 1"});
  expect_refusal([] { (void)parameters_of({}); }, {"log_rates is empty"});
}

// Sum_k weight_k p_k in fifty digits, with parameter n moved by `by`; 0 is the slowest log rate.
fifty_digits objective(std::vector<double> const& weight, std::size_t n, fifty_digits const& by) {
  fifty_digits p = some.slowest, sum = 0;
  if (n == 0) p += by;
  sum = weight[0] * p;
  for (std::size_t k = 0; k < some.gaps.size(); ++k) {
    fifty_digits gap = some.gaps[k];
    if (n == k + 1) gap += by;
    p += log(1 + exp(gap));
    sum += weight[k + 1] * p;
  }
  return sum;
}

TEST(PostMap, HasTheAdjointOfItsDerivatives) {
  std::vector<double> const weight{0.5, -1, 2, 0.25, -3, 1, 0.7};
  auto const found = log_rates_adjoint(some, weight);
  fifty_digits const h = 1e-15;
  for (std::size_t n = 0; n < weight.size(); ++n) {
    auto const right =
        static_cast<double>((objective(weight, n, h) - objective(weight, n, -h)) / (2 * h));
    double const is = n == 0 ? found.slowest : found.gaps[n - 1];
    EXPECT_NEAR(is, right, 1e-14 * std::max(1.0, std::abs(right))) << n;
  }
  expect_refusal([] { (void)log_rates_adjoint(some, {1, 2}); }, {"gradient has 2 entries"});
}

}  // namespace
