// Tapers: values, what they do to a spectrum, adjoint.
// SPDX-License-Identifier: MIT
#include "wane/spectra/rates/taper.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "spectra/expect_refusal.hpp"

namespace {

using namespace wane::spectra;

TEST(LinearTaper, FallsFromTheSlowestChannelToTheFastest) {
  EXPECT_EQ(linear_taper(1), std::vector<double>{0});
  EXPECT_EQ(linear_taper(2), (std::vector<double>{1, 0}));
  EXPECT_EQ(linear_taper(5), (std::vector<double>{1, 0.75, 0.5, 0.25, 0}));
}

TEST(AdaptiveTaper, OfAnEvenSpectrumIsTheLinearOne) {
  auto const taper = adaptive_taper({-8, -6, -4, -2, 0}, std::log(2048)).values();
  for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(taper[k], linear_taper(5)[k], 1e-15);
  EXPECT_EQ(adaptive_taper({-3}, 5).values(), std::vector<double>{0});
}

TEST(AdaptiveTaper, MakesTheSpectrumEvenAtItsReference) {
  // p_k - alpha_k log t_ref is evenly spaced: what Prop. 4.16 is for.
  std::vector<double> const p{-7, -5.8, -4.1, -2, -0.3, 0.4};
  double const log_reference = std::log(2048);
  auto const taper = adaptive_taper(p, log_reference).values();
  double const step = (p.back() - p.front() + log_reference) / 5;
  for (std::size_t k = 0; k < 6; ++k)
    EXPECT_NEAR(p[k] - taper[k] * log_reference,
                p.front() - log_reference + static_cast<double>(k) * step, 1e-14);
}

TEST(AdaptiveTaper, StaysBetweenNoStretchAndAll) {
  auto const taper = adaptive_taper({-9, 3, 3.1, 3.2}, 2);
  EXPECT_EQ(taper.values()[1], 1);
  for (double alpha : taper.values()) EXPECT_TRUE(alpha >= 0 && alpha <= 1);
  EXPECT_EQ(taper.adjoint({0, 1, 0, 0}), (std::vector<double>{0, 0, 0, 0}));
}

TEST(AdaptiveTaper, HasTheAdjointOfItsDerivatives) {
  // The taper is linear in p where it is not clamped, so differences are exact but for rounding.
  std::vector<double> const p{-7, -5.8, -4.1, -2, -0.3, 0.4}, weight{3, 1, -2, 0.5, 4, -1};
  auto const objective = [&](std::vector<double> const& at) {
    double sum = 0;
    auto const taper = adaptive_taper(at, 7.6).values();
    for (std::size_t k = 0; k < at.size(); ++k) sum += weight[k] * taper[k];
    return sum;
  };
  auto const found = adaptive_taper(p, 7.6).adjoint(weight);
  for (std::size_t k = 0; k < p.size(); ++k) {
    auto above = p, below = p;
    above[k] += 0.125, below[k] -= 0.125;
    EXPECT_NEAR(found[k], (objective(above) - objective(below)) * 4, 1e-13) << k;
  }
  expect_refusal([&] { (void)adaptive_taper(p, 7.6).adjoint({1}); }, {"gradient has 1 entries"});
}

TEST(AdaptiveTaper, RefusesAReferenceThatNothingCanBeMeasuredBy) {
  expect_refusal([] { (void)adaptive_taper({-1, 0}, 0); }, {"log_reference is 0"});
  expect_refusal([] { (void)adaptive_taper({}, 1); }, {"count is 0"});
  expect_refusal([] { (void)adaptive_taper({-1, NAN, 0}, 1); }, {"log_rates[1] is nan"});
  expect_refusal(
      [] {
        (void)adaptive_taper({0, -1, 2}, 1);
      },
      {"log_rates[1] is -1", "slowest first"});
}

}  // namespace
