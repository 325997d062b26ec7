// Gauss rules of discrete measures: moments, signs, and what is no rule at all.
// SPDX-License-Identifier: MIT
#include "wane/spectra/algebra/gauss_rule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

using wane::spectra::impl::gauss_rule;
using wane::spectra::impl::node;

std::vector<node> measure(std::size_t count) {
  std::vector<node> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    auto const x = static_cast<double>(i);
    nodes.push_back({0.01 + std::exp(-0.3 * x), 1 + std::sin(x) / 2});
  }
  return nodes;
}

double moment(std::vector<node> const& nodes, int power) {
  double sum = 0;
  for (node n : nodes) sum += n.weight * std::pow(n.at, power);
  return sum;
}

TEST(GaussRule, HasTheMomentsOfTheMeasure) {
  auto const all = measure(40);
  for (int count : {1, 2, 3, 4}) {
    auto const rule = gauss_rule(all, static_cast<std::size_t>(count));
    ASSERT_EQ(rule.size(), static_cast<std::size_t>(count));
    for (int power = 0; power < 2 * count; ++power)
      EXPECT_NEAR(moment(rule, power) / moment(all, power), 1, 1e-13) << count << ", " << power;
    EXPECT_GT(std::abs(moment(rule, 2 * count) / moment(all, 2 * count) - 1), 1e-9);
    for (node n : rule) {
      EXPECT_GT(n.weight, 0);
      EXPECT_TRUE(n.at > all.back().at && n.at < all.front().at);
    }
  }
}

TEST(GaussRule, OfFewNodesIsThese) {
  auto const rule = gauss_rule(measure(3), 4);
  ASSERT_EQ(rule.size(), 3u);
  EXPECT_EQ(rule[1].at, measure(3)[1].at);
}

}  // namespace
