// One set of rates for every order: errors on orders it was not fitted to, and slopes.
// SPDX-License-Identifier: MIT
#include "wane/spectra/orders/shared_rates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "spectra/expect_refusal.hpp"

namespace {

using namespace wane::spectra;

constexpr double held_out[] = {0.1, 0.15, 0.25, 0.45, 0.6, 0.85, 0.99, 0.999, 1.0};

TEST(SharedRates, HoldEveryOrderOnAMillionLags) {
  for (auto [terms, accuracy] : {std::pair{16, 1e-3}, {19, 1.5e-4}}) {
    shared_rates const rates(terms, 1000000);
    for (double alpha : held_out)
      EXPECT_LE(rates.sum(alpha).error.max_relative_error, accuracy) << terms << ", " << alpha;
  }
}

TEST(SharedRates, HaveCertificatesThatAreTrueWithWeightsOfBothSigns) {
  shared_rates const rates(9, 20000);
  bool negative = false;
  for (double alpha : held_out) {
    auto const sum = rates.sum(alpha);
    gruenwald_letnikov const kernel(alpha);
    double worst = 0;
    for (std::int64_t lag = 1; lag <= 20000; ++lag)
      worst = std::max(worst, std::abs(sum(lag) / kernel(lag) - 1));
    EXPECT_LE(worst, sum.error.max_relative_error * (1 + 1e-9));
    EXPECT_LE(sum.error.max_relative_error, 1.021 * worst);
    for (double weight : sum.weights) negative = negative || weight < 0;
  }
  EXPECT_TRUE(negative);
}

TEST(SharedRates, HaveWeightsWithTheirSlopeInTheOrder) {
  shared_rates const rates(16, 1000000);
  for (double alpha : held_out) {
    auto const here = rates.at(alpha);
    gruenwald_letnikov const kernel(alpha);
    for (std::int64_t lag : log_spaced_lags(1000000, 20, 300)) {
      double slope = 0;
      for (std::size_t s = 0; s < here.slopes.size(); ++s)
        slope += here.slopes[s] * std::exp(-rates.rates()[s] * static_cast<double>(lag));
      double const right = kernel.derivative(lag) / kernel(lag);
      EXPECT_NEAR(slope / kernel(lag), right, 1e-3 * std::max(1.0, std::abs(right)))
          << alpha << ", " << lag;
    }
  }
  // And they are the derivatives of the weights themselves.
  for (double alpha : {0.2, 0.5, 0.9}) {
    constexpr double h = 1e-4;
    auto const below = rates.at(alpha - h), above = rates.at(alpha + h), here = rates.at(alpha);
    for (std::size_t s = 0; s < here.slopes.size(); ++s)
      EXPECT_NEAR((above.weights[s] - below.weights[s]) / (2 * h), here.slopes[s], 1e-4);
  }
}

TEST(SharedRates, RefuseWhatTheyCannotHold) {
  expect_refusal([] { shared_rates(0, 1000); }, {"terms is 0"});
  for (std::int64_t terms : {std::int64_t{600}, std::numeric_limits<std::int64_t>::max()})
    expect_refusal([&] { shared_rates(terms, 1000); }, {"terms is"});
  expect_refusal([] { shared_rates(4, 1000, 0); }, {"least_alpha is 0"});
  shared_rates const rates(6, 1000, 0.3);
  expect_refusal([&] { (void)rates.at(0.2); }, {"alpha is 0.2", "[0.3, 1]"});
}

}  // namespace
