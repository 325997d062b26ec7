// Certificates: never below the error on any lag, and hardly above the largest.
// SPDX-License-Identifier: MIT
#include "wane/spectra/fit/certify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "spectra/expect_refusal.hpp"
#include "wane/spectra/fit/sum_of_exponentials.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"

namespace {

using namespace wane::spectra;

struct dense_error {
  double relative = 0, absolute = 0;
};
template <class Kernel>
dense_error on_every_lag(Kernel const& kernel, exponential_sum const& sum, std::int64_t horizon) {
  dense_error found;
  for (std::int64_t lag = 1; lag <= horizon; ++lag) {
    double const value = kernel(lag), error = std::abs(sum(lag) - value);
    found.relative = std::max(found.relative, error / value);
    found.absolute = std::max(found.absolute, error);
  }
  return found;
}

template <class Kernel>
void expect_true(Kernel const& kernel, exponential_sum const& sum, certificate const& claimed) {
  auto const is = on_every_lag(kernel, sum, claimed.horizon);
  EXPECT_LE(is.relative, claimed.max_relative_error * (1 + 1e-9));
  EXPECT_LE(is.absolute, claimed.max_absolute_error * (1 + 1e-9));
  EXPECT_LE(claimed.max_relative_error, 1.021 * is.relative);
  EXPECT_LE(claimed.max_absolute_error, 1.021 * is.absolute);
  double const at_worst = kernel(claimed.worst_relative_lag);
  EXPECT_GE(std::abs(sum(claimed.worst_relative_lag) - at_worst) / at_worst, is.relative / 1.021);
}

// Sums of any weights and rates, good fits and bad ones.
exponential_sum random_sum(std::mt19937& bits, std::int64_t horizon) {
  std::uniform_real_distribution<double> part(0, 1);
  exponential_sum sum;
  for (int s = 0; s < 5; ++s) {
    sum.rates.push_back(std::pow(static_cast<double>(horizon), -part(bits) * 1.3) * 2);
    sum.weights.push_back(part(bits));
  }
  return sum;
}

TEST(Certify, IsTrueForSumsThatAreNoFitAtAll) {
  std::mt19937 bits(1);
  for (std::int64_t horizon : {1, 2, 3, 17, 300, 20000})
    for (int i = 0; i < 20; ++i) {
      auto const sum = random_sum(bits, horizon);
      expect_true(gruenwald_letnikov(0.4), sum, certify(gruenwald_letnikov(0.4), sum, horizon));
      expect_true(power_law(1.3), sum, certify(power_law(1.3), sum, horizon));
    }
}

void expect_true_certificates(std::int64_t longest, int cases) {
  std::mt19937 bits(2);
  std::uniform_real_distribution<double> part(0, 1);
  for (int i = 0; i < cases; ++i) {
    auto const horizon =
        static_cast<std::int64_t>(std::pow(static_cast<double>(longest), 0.3 + 0.7 * part(bits)));
    double const accuracy = std::pow(10, -1 - 6 * part(bits)), alpha = 0.05 + 0.94 * part(bits);
    sum_options options;
    if (i % 2) options.measured = metric::absolute;
    gruenwald_letnikov const kernel(alpha);
    auto const sum = sum_of_accuracy(kernel, horizon, accuracy, options);
    SCOPED_TRACE(::testing::Message() << alpha << ", " << horizon << ", " << accuracy);
    EXPECT_LE(i % 2 ? sum.error.max_absolute_error : sum.error.max_relative_error, accuracy);
    expect_true(kernel, sum, sum.error);
  }
}
TEST(Certify, IsTrueForSumsOfAnyAccuracy) { expect_true_certificates(20000, 60); }
TEST(Certify, IsTrueOnEveryLagOfAMillionSlow) { expect_true_certificates(1000000, 200); }

TEST(Certify, RefusesWhatIsNoSum) {
  gruenwald_letnikov const kernel(0.5);
  auto const refused = [&](std::vector<double> rates, std::vector<double> weights,
                           char const* piece) {
    expect_refusal([&] { (void)certify(kernel, {rates, weights, 1, {}}, 100); }, {piece});
  };
  refused({0.1}, {std::nan("")}, "weights[0] is nan");
  refused({0.1, -1}, {1, 1}, "rates[1] is -1");
  refused({0.1, HUGE_VAL}, {1, 1}, "rates[1] is inf");
  refused({0.1}, {1, 1}, "weights has 2");
}

TEST(Certify, LooksAtFewOfTheLags) {
  gruenwald_letnikov const kernel(0.5);
  auto const sum = sum_of_accuracy(kernel, 1000000000, 1e-4);
  EXPECT_LT(sum.error.lags_evaluated, 2000);
  EXPECT_EQ(sum.error.horizon, 1000000000);
}

}  // namespace
