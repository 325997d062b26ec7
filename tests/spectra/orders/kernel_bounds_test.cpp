// Bounds of VORT's section 4, held against what they bound.
// SPDX-License-Identifier: MIT
#include "wane/spectra/orders/kernel_bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "spectra/expect_refusal.hpp"

namespace {

using namespace wane::spectra;

TEST(QuantisationBound, HoldsAndIsNotFarOff) {
  std::mt19937 bits(1);
  std::uniform_real_distribution<double> part(0, 1);
  double closest = 0;
  for (int i = 0; i < 20000; ++i) {
    double const least = 0.01 + 0.5 * part(bits), alpha = least + (1 - least) * part(bits);
    double const beta = alpha + (1 - alpha) * part(bits), t = std::pow(1e6, part(bits));
    auto const kernel = [&](double g) { return std::pow(t, g - 1) / std::tgamma(g); };
    double const lost = std::abs(kernel(beta) - kernel(alpha));
    double const bound = quantisation_bound(alpha, beta, t, least);
    EXPECT_LE(lost, bound + 1e-12);
    if (beta > alpha + 1e-3) closest = std::max(closest, lost / bound);
  }
  EXPECT_GT(closest, 0.9);
}

// Int_1^T (f - g)^2 by the trapezoidal rule in log t.
double squared_distance(double alpha, double horizon, std::vector<double> const& rates,
                        std::vector<double> const& weights) {
  constexpr int points = 4000;
  double sum = 0, step = std::log(horizon) / points;
  for (int i = 0; i <= points; ++i) {
    double const t = std::exp(i * step);
    double f = 0;
    for (std::size_t m = 0; m < rates.size(); ++m) f += weights[m] * std::exp(-rates[m] * t);
    double const apart = f - std::pow(t, alpha - 1);
    sum += (i == 0 || i == points ? 0.5 : 1) * t * apart * apart;
  }
  return sum * step;
}

TEST(MixtureLowerBound, HoldsForMixturesOfAllSorts) {
  std::mt19937 bits(2);
  std::uniform_real_distribution<double> part(0, 1);
  int positive = 0;
  for (int i = 0; i < 200; ++i) {
    double const alpha = 0.1 + 0.8 * part(bits), horizon = std::pow(10, 1 + 6 * part(bits));
    std::vector<double> rates, weights;
    for (int m = 0; m < 4; ++m) {
      rates.push_back(std::pow(10, -2 + 3 * part(bits)));
      weights.push_back(0.3 * part(bits));
    }
    double const bound = mixture_lower_bound(alpha, horizon, rates, weights);
    positive += bound > 0;
    EXPECT_LE(bound, squared_distance(alpha, horizon, rates, weights) * (1 + 1e-3));
  }
  EXPECT_GT(positive, 20);
}

TEST(KernelBounds, RefuseOrdersOutOfOrder) {
  expect_refusal([] { (void)quantisation_bound(0.5, 0.4, 2, 0.1); },
                 {"orders are 0.1, 0.5 and 0.4"});
  expect_refusal([] { (void)quantisation_bound(0.5, 0.6, 0.5, 0.1); }, {"t is 0.5"});
  expect_refusal([] { (void)mixture_lower_bound(1, 10, {1}, {1}); }, {"alpha is 1"});
  expect_refusal([] { (void)mixture_lower_bound(0.5, 10, {1}, {1, 2}); }, {"weights has 2"});
  expect_refusal([] { (void)mixture_lower_bound(0.5, 10, {1}, {-1}); }, {"weights[0] is -1"});
}

}  // namespace
