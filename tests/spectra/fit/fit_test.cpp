// Fits of kernels: the figures known for named spectra, optimality, hard and bad input.
// SPDX-License-Identifier: MIT
#include "wane/spectra/fit/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "spectra/expect_refusal.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"
#include "wane/spectra/rates/geometric.hpp"
#include "wane/spectra/rates/linear.hpp"
#include "wane/spectra/rates/random.hpp"

namespace {

using namespace wane::spectra;
using namespace wane::spectra::impl;

double error(std::vector<double> const& rates, std::int64_t horizon) {
  return fit(rates, power_law(0.5), horizon).max_absolute_error;
}

TEST(Fit, OnThePaperRangeHasTheMeasuredErrors) {
  // Design table B1, within 10 %: two digits were kept. l^{-1/2}, rates in [1/T, 1].
  struct entry {
    std::int64_t horizon, count;
    double error;
  };
  for (auto [horizon, count, expected] :
       {entry{1000, 4, 1.4e-2}, entry{1000, 8, 3.5e-3}, entry{1000, 16, 7.2e-4},
        entry{1000, 32, 3.4e-5}, entry{10000, 16, 1.6e-3}, entry{10000, 32, 1.5e-4},
        entry{100000, 8, 3.3e-3}, entry{100000, 16, 2.5e-3}, entry{100000, 32, 3.7e-4},
        entry{100000, 64, 1.0e-5}})
    EXPECT_NEAR(error(geometric(count, unit_range(horizon)), horizon) / expected, 1, 0.1)
        << "T = " << horizon << ", N = " << count;
  // Here rounding limits the fit, and this one reaches further than the table's 6.6e-7.
  EXPECT_LE(error(geometric(64, unit_range(1000)), 1000), 6.6e-7);
}

TEST(Fit, OnTheWideRangeIsOrdersOfMagnitudeBetter) {
  EXPECT_LE(error(geometric(16, wide_range(100000)), 100000), 4e-5);
  EXPECT_LE(error(geometric(16, 0.8e-5, 3), 100000), 1.6e-5);
  EXPECT_LE(error(geometric(32, 0.4e-5, 6), 100000), 3.5e-10);
  EXPECT_LE(error(geometric(16, 0.4e-3, 4), 1000), 8.7e-8);
  EXPECT_LE(error(geometric(32, 0.4e-3, 6), 1000), 1.6e-14);
  EXPECT_LE(error(geometric(8, 0.2e-3, 1.5), 1000), 3.5e-4);
}

TEST(Fit, AgreesWithSixtyDigitArithmetic) {
  // Remez in 60 digits on 1000 lags, written apart: six digits; the lags differ by under 1e-4.
  EXPECT_NEAR(error(geometric(16, unit_range(100000)), 100000), 0.00246655, 1e-6);
  EXPECT_NEAR(error(geometric(16, wide_range(100000)), 100000), 2.79808e-5, 1e-8);
  EXPECT_NEAR(error(geometric(8, unit_range(100000)), 100000), 0.00320682, 1e-6);
  EXPECT_NEAR(error(geometric(32, 0.4e-5, 6), 100000), 3.32399e-10, 1e-12);
  EXPECT_NEAR(error(linear(4), 1000), 0.326121, 1e-5);
  EXPECT_NEAR(fit(linear(8), power_law(0.5), 1000).lower_bound, 0.269266, 1e-6);
  // Weights of 5e15 round by 0.5, and decay by e^{-7} or more before the first lag: 5e-4 at worst.
  EXPECT_NEAR(error(linear(8), 1000), 0.269266, 1e-4);
}

TEST(Fit, OfS4DRealSaturatesWhateverTheCount) {
  // Double precision tells eight of e^{-1}, e^{-2}, ... apart; in exact arithmetic sixteen would
  // reach 0.2121, with weights of 1e59.
  EXPECT_NEAR(error(linear(4), 100000), 0.33, 0.033);
  for (std::int64_t count : {8, 16, 32, 64}) {
    EXPECT_NEAR(error(linear(count), 1000) / 0.28, 1, 0.1);
    EXPECT_NEAR(error(linear(count), 100000) / 0.28, 1, 0.1);
  }
}

TEST(Fit, OfRandomRatesIsAsBadAsMeasured) {
  // Medians of 25 seeds against the table's medians of 5: quartiles are a factor of 2.3 away for
  // log-uniform rates, 1.3 for uniform ones.
  auto const median = [](auto const& draw, std::int64_t count, std::int64_t horizon) {
    std::vector<double> errors;
    for (std::uint64_t seed = 1; seed <= 25; ++seed)
      errors.push_back(error(draw(count, horizon, seed), horizon));
    std::nth_element(errors.begin(), errors.begin() + 12, errors.end());
    return errors[12];
  };
  EXPECT_LT(std::abs(std::log(median(random_log_uniform, 16, 100000) / 6.4e-3)), std::log(2.3));
  EXPECT_LT(std::abs(std::log(median(random_log_uniform, 32, 100000) / 3.3e-4)), std::log(2.3));
  EXPECT_LT(std::abs(std::log(median(random_uniform, 16, 100000) / 7.1e-2)), std::log(1.3));
  EXPECT_LT(std::abs(std::log(median(random_uniform, 32, 100000) / 4.7e-2)), std::log(1.3));
}

TEST(Fit, IsWithinTwoPercentOfItsLowerBoundOnTheDenserCheck) {
  for (std::int64_t horizon : {1000, 100000, 1000000000})
    for (std::int64_t count : {1, 2, 5, 16, 32})
      for (auto wanted : {metric::absolute, metric::relative}) {
        auto const rates = geometric(count, wide_range(horizon));
        auto const found = fit(rates, power_law(0.5), horizon, wanted);
        EXPECT_GT(found.lower_bound, 0);
        EXPECT_LE(error_in(wanted, found), 1.02 * found.lower_bound) << horizon << ' ' << count;
      }
}

TEST(Fit, ReportsTheErrorsOfTheWeightsItReturns) {
  auto const rates = geometric(12, wide_range(5000));
  power_law const kernel(0.7);
  auto const found = fit(rates, kernel, 5000);
  double absolute = 0;
  double relative = 0;
  for (std::int64_t lag = 1; lag <= 5000; ++lag) {
    double const size = std::abs(impulse_response(rates, found.weights, lag) - kernel(lag));
    absolute = std::max(absolute, size);
    relative = std::max(relative, size / kernel(lag));
  }
  EXPECT_EQ(found.max_absolute_error, absolute);
  EXPECT_EQ(found.max_relative_error, relative);
  auto const at = [&](std::int64_t lag) {
    return std::abs(impulse_response(rates, found.weights, lag) - kernel(lag));
  };
  EXPECT_EQ(at(found.worst_absolute_lag), absolute);
  EXPECT_EQ(at(found.worst_relative_lag) / kernel(found.worst_relative_lag), relative);
}

TEST(Fit, InTheRelativeMetricTradesAbsoluteErrorForRelative) {
  auto const rates = geometric(16, wide_range(100000));
  auto const absolute = fit(rates, power_law(0.5), 100000);
  auto const relative = fit(rates, power_law(0.5), 100000, metric::relative);
  EXPECT_LT(relative.max_relative_error, absolute.max_relative_error / 50);
  EXPECT_GT(relative.max_absolute_error, absolute.max_absolute_error);
}

TEST(Fit, RecoversASumOfExponentialsExactly) {
  std::vector<double> const rates = {2, 0.01, 0.3};
  std::vector<double> const weights = {-1, 0.5, 3};
  auto const kernel = [&](std::int64_t lag) { return impulse_response(rates, weights, lag); };
  auto const found = fit(rates, kernel, 1000);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found.weights[k], weights[k], 1e-12);
  EXPECT_LT(found.max_absolute_error, 1e-14);
}

TEST(Fit, OfMeasuredSamplesTakesAnyValuesAndZeroLag) {
  std::vector<std::int64_t> const lags = {0, 1, 5, 6, 100, 1000};
  std::vector<double> const values = {1, 0.6, 0, 0.2, -0.1, 0.05};
  auto const found = fit({0.001, 0.05, 1}, lags, values);
  EXPECT_GT(found.lower_bound, 0);
  EXPECT_NEAR(found.max_absolute_error, found.lower_bound, 1e-6 * found.lower_bound);
  EXPECT_TRUE(std::find(lags.begin(), lags.end(), found.worst_absolute_lag) != lags.end());
}

TEST(Fit, OfRepeatedRatesIsThatOfTheDistinctOnes) {
  auto const once = fit({0.01, 0.5}, power_law(0.5), 300);
  auto const twice = fit({0.5, 0.01, 0.5, 0.01, 0.5}, power_law(0.5), 300);
  EXPECT_NEAR(twice.max_absolute_error, once.max_absolute_error, 1e-12);
  EXPECT_EQ(twice.rank, 2U);
}

TEST(Fit, GivesRatesThatDecayBeforeTheFirstLagNoWeight) {
  auto const found = fit({1e300, 0.1, 5000}, power_law(0.5), 50);
  EXPECT_EQ(found.weights[0], 0.0);
  EXPECT_EQ(found.weights[2], 0.0);
  EXPECT_NEAR(found.max_absolute_error, error({0.1}, 50), 1e-14);
  auto const nothing = fit({1e5}, power_law(0.5), 50);
  EXPECT_EQ(nothing.max_absolute_error, 1.0);
  EXPECT_EQ(nothing.lower_bound, 1.0);
  EXPECT_EQ(nothing.worst_absolute_lag, 1);
}

TEST(Fit, WithAsManyRatesAsLagsIsExact) {
  EXPECT_LT(error({0.5}, 1), 1e-16);
  EXPECT_LT(error(geometric(3, 0.1, 3), 3), 1e-14);
  EXPECT_LT(error(geometric(40, 0.1, 3), 4), 1e-14);
}

TEST(Fit, OfOneRateOnTwoLagsIsTheTextbookAnswer) {
  // c x and c x^2 against 1 and 1/sqrt(2), x = e^{-r}: errors equal and opposite.
  double const x = std::exp(-0.1);
  double const c = (1 + std::sqrt(0.5)) / (x + x * x);
  auto const found = fit({0.1}, power_law(0.5), 2);
  EXPECT_NEAR(found.weights[0], c, 1e-14);
  EXPECT_NEAR(found.max_absolute_error, std::abs(1 - c * x), 1e-15);
}

TEST(Fit, ReachesLagsOfTwoToFiftyThree) {
  auto const found = fit(geometric(40, wide_range(longest_horizon)), gruenwald_letnikov(0.5),
                         longest_horizon, metric::relative);
  EXPECT_LE(found.max_relative_error, 1.03 * found.lower_bound);
}

TEST(Fit, RefusesRatesThatAreNone) {
  power_law const kernel(0.5);
  double const nan = std::numeric_limits<double>::quiet_NaN();
  expect_refusal([&] { fit({}, kernel, 10); }, {"rates is empty", "at least one"});
  expect_refusal([&] { fit({1, 0}, kernel, 10); }, {"rates[1] is 0", "positive and finite"});
  expect_refusal([&] { fit({-2}, kernel, 10); }, {"rates[0] is -2"});
  expect_refusal([&] { fit({nan}, kernel, 10); }, {"rates[0] is nan"});
  expect_refusal([&] { fit({1}, kernel, 0); }, {"horizon is 0", "1 to 2^53"});
}

TEST(Fit, RefusesSamplesItCannotUse) {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  expect_refusal([] { fit({1}, std::vector<std::int64_t>{}, {}); }, {"lags is empty"});
  expect_refusal([] { fit({1}, {1, 2}, {1}); }, {"values has 1", "2 lags"});
  expect_refusal([] { fit({1}, {1, 1}, {1, 2}); }, {"lags[1] is 1", "must increase"});
  expect_refusal([] { fit({1}, {-1, 1}, {1, 2}); }, {"lags[0] is -1", "negative"});
  expect_refusal([&] { fit({1}, {1, 2}, {1, nan}); }, {"values[1] is nan", "finite"});
  expect_refusal(
      [] {
        fit({1}, {1, 2}, {1, 0}, metric::relative);
      },
      {"values[1] is 0", "relative error"});
}

}  // namespace
