// Laplace nodes: placement, poles, and what aliases.
// SPDX-License-Identifier: MIT
#include "wane/spectra/nodes/laplace_nodes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "spectra/expect_refusal.hpp"

namespace {

using namespace wane::spectra;

TEST(LaplaceNodes, StartEvenInTheLogarithmAndInFrequency) {
  auto const nodes = initial_laplace_nodes(5, 0.001, 10, 3.0);
  EXPECT_EQ(nodes.sigma.front(), 0.001);
  EXPECT_NEAR(nodes.sigma[2], 0.1, 1e-15);
  EXPECT_EQ(nodes.sigma.back(), 10);
  EXPECT_EQ(nodes.omega.front(), 0);
  EXPECT_EQ(nodes.omega[2], 1.5);
  EXPECT_EQ(nodes.omega.back(), 3.0);
  EXPECT_EQ(initial_laplace_nodes(1, 0.1, 0.1, 1).omega[0], 0);
}

TEST(LaplaceNodes, LoseHalfInAHalfLifeAndTurnWithTheirFrequency) {
  auto const nodes = initial_laplace_nodes(4, 0.01, 0.2, 1.0, 0.5);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(std::pow(std::abs(nodes.pole(k)), nodes.half_life(k)), 0.5, 1e-13);
    EXPECT_NEAR(std::arg(nodes.pole(k)), -2 * std::numbers::pi * nodes.frequency(k), 1e-15);
  }
}

TEST(LaplaceNodes, AreKeptAsTheyAre) {
  laplace_nodes const nodes{{1, 2, 3, 4}, {0, 0.1, 0.2, 0.3}, 0.5};
  auto const keep = [&](std::vector<std::size_t> const& active) {
    return kept_nodes(nodes, active);
  };
  auto const two = keep({1, 3});
  EXPECT_EQ(two.sigma, (std::vector<double>{2, 4}));
  EXPECT_EQ(two.omega, (std::vector<double>{0.1, 0.3}));
  EXPECT_EQ(two.pole(1), nodes.pole(3));
  EXPECT_EQ(keep({0, 1, 2, 3}).sigma, nodes.sigma);
  EXPECT_TRUE(keep({}).sigma.empty());
  expect_refusal([&] { (void)keep({1, 4}); }, {"active[1] is 4", "4 nodes"});
  expect_refusal([&] { (void)keep({0, 2, 1}); }, {"active[2] is 1, after 2", "rise"});
  expect_refusal([&] { (void)keep({2, 2}); }, {"active[1] is 2, after 2"});
}

TEST(LaplaceNodes, KeepSigmaAboveItsLeast) {
  for (double sigma : {0.011, 0.5, 40.0}) {
    double const parameter = parameter_of_sigma(sigma, 0.01);
    EXPECT_NEAR(sigma_of(parameter, 0.01), sigma, 1e-14 * sigma);
    double const h = 1e-5;
    EXPECT_NEAR((sigma_of(parameter + h, 0.01) - sigma_of(parameter - h, 0.01)) / (2 * h),
                sigma_slope(parameter), 1e-9);
  }
  EXPECT_GT(sigma_of(-700, 0.01), 0.01 - 1e-18);
  expect_refusal([] { (void)parameter_of_sigma(0.01, 0.01); }, {"sigma is 0.01"});
}

TEST(LaplaceNodes, RefuseWhatGrowsOrAliases) {
  expect_refusal([] { (void)initial_laplace_nodes(3, 0.1, 1, 3.2); }, {"omega[2] is 3.2", "alias"});
  expect_refusal([] { (void)initial_laplace_nodes(3, 0.1, 1, 1.7, 2); }, {"with step 2"});
  expect_refusal([] { (void)initial_laplace_nodes(3, 0, 1, 1); }, {"low is 0"});
  expect_refusal([] { (void)initial_laplace_nodes(3, 0.1, 1, -1); }, {"last_omega is -1"});
  expect_refusal(
      [] {
        require_nodes({{0.1, 0.001}, {0, 0}}, 0.01);
      },
      {"sigma[1] is 0.001", "above 0.01"});
  expect_refusal([] { require_nodes({{0.1}, {0, 0}}); }, {"omega has 2 entries"});
  expect_refusal([] { require_nodes({{}, {}}); }, {"sigma is empty"});
}

}  // namespace
