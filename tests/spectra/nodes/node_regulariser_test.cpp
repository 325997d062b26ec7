// The regulariser of Laplace nodes: its sums, its gradients, what it refuses.
// SPDX-License-Identifier: MIT
#include "wane/spectra/nodes/node_regulariser.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "spectra/expect_refusal.hpp"

namespace {

using namespace wane::spectra;

laplace_nodes const nodes{{0.1, 0.4, 0.3, 2}, {0.5, -1, 0.25, 3}, 1};
std::vector<double> const mask{0.5, 1, 0.25, 0.125};

// By hand: sum |omega| m = 0.25 + 1 + 0.0625 + 0.375, sum m = 1.875, and
// 0.09 0.5 + 0.01 0.25 + 2.89 0.03125.
TEST(NodeRegulariser, AddsUpItsThreeTerms) {
  double const omega = 1.6875, sigma = 0.045 + 0.0025 + 0.0903125, masks = 1.875;
  EXPECT_NEAR(regularise(nodes, mask, {.omega = 1}).loss, omega, 1e-15);
  EXPECT_NEAR(regularise(nodes, mask, {.sigma = 1}).loss, sigma, 1e-15);
  EXPECT_NEAR(regularise(nodes, mask, {.mask = 1}).loss, masks, 1e-15);
  EXPECT_NEAR(regularise(nodes, mask, {2, 3, 5}).loss, 2 * omega + 3 * sigma + 5 * masks, 1e-14);
  EXPECT_EQ(regularise(nodes, mask, {}).loss, 0);
  EXPECT_EQ(regularise({{1}, {-2}}, std::vector<double>{0.5}, {1, 100, 10}).loss, 6);
}

// The loss is a polynomial of degree 2 in each number: central differences are exact.
TEST(NodeRegulariser, HasItsGradients) {
  node_penalties const lambda{0.7, 1.3, 0.2};
  std::vector<double> m{0.5, 0.9, 0.25, 0.125};
  laplace_nodes moved = nodes;
  auto const is = regularise(nodes, m, lambda);
  auto const slope = [&](double& number) {
    double const before = number, h = 1e-3;
    number = before + h;
    double const above = regularise(moved, m, lambda).loss;
    number = before - h;
    double const below = regularise(moved, m, lambda).loss;
    number = before;
    return (above - below) / (2 * h);
  };
  for (std::size_t k = 0; k < m.size(); ++k) {
    EXPECT_NEAR(is.sigma[k], slope(moved.sigma[k]), 1e-12);
    EXPECT_NEAR(is.omega[k], slope(moved.omega[k]), 1e-12);
    EXPECT_NEAR(is.mask[k], slope(m[k]), 1e-12);
  }
}

TEST(NodeRegulariser, HasNoSlopeWhereANodeDoesNotTurnOrIsDropped) {
  auto const at = regularise({{1, 2, 4}, {0, -0., 1}}, std::vector<double>{1, 1, 0}, {1, 1, 0});
  EXPECT_EQ(at.omega, (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(at.sigma, (std::vector<double>{-2, 2, 0}));
  EXPECT_EQ(at.mask, (std::vector<double>{1, 1, 5}));  // the third would turn, and be 2 away
}

TEST(NodeRegulariser, SaysWhatDoesNotFit) {
  expect_refusal([] { (void)regularise(nodes, std::vector<double>(3), {}); },
                 {"mask has 3 entries", "4 nodes"});
  expect_refusal([] { (void)regularise({{1}, {4}}, std::vector<double>{1}, {}); }, {"aliases"});
  for (double wrong : {-0.1, 1.1, std::nan("")}) {
    expect_refusal(
        [&] {
          (void)regularise({{1}, {1}}, std::vector<double>{wrong}, {});
        },
        {"mask[0] is ", "[0, 1]"});
  }
  for (double wrong : {-0.1, HUGE_VAL, std::nan("")}) {
    expect_refusal([&] { (void)regularise(nodes, mask, {.omega = wrong}); }, {"penalty of omega"});
    expect_refusal([&] { (void)regularise(nodes, mask, {.sigma = wrong}); }, {"penalty of sigma"});
    expect_refusal([&] { (void)regularise(nodes, mask, {.mask = wrong}); }, {"penalty of mask"});
  }
}

}  // namespace
