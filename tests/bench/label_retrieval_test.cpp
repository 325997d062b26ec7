// The accuracy of a retrieved label that wane-claims computes, against questions that are drawn.
// SPDX-License-Identifier: MIT
#include "claims/label_retrieval.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <random>
#include <vector>

#include "wane/spectra/rates/random.hpp"

namespace wane::bench {
namespace {

double normal(std::mt19937_64& bits) {
  double const size = std::sqrt(-2 * std::log(1 - spectra::unit_uniform(bits)));
  return size * std::cos(2 * std::numbers::pi * spectra::unit_uniform(bits));
}

// The part of questions for the token at `lag` that the scores of all labels, added up token by
// token, answer right.
double drawn_accuracy(std::vector<double> const& weights, std::size_t lag, double strength,
                      int questions) {
  std::mt19937_64 bits(1);
  int right = 0;
  for (int question = 0; question < questions; ++question) {
    std::array<double, labels> score{};
    std::size_t const asked = bits() % labels;
    for (std::size_t l = 0; l < weights.size(); ++l) {
      bool const source = l == lag;
      double const match = source ? 1 : normal(bits) * 4 / strength;
      score[source ? asked : bits() % labels] += weights[l] * match;
    }
    right += std::max_element(score.begin(), score.end()) == score.begin() + std::ptrdiff_t(asked);
  }
  return double(right) / questions;
}
double computed_accuracy(std::vector<double> const& weights, std::size_t lag, double strength) {
  double others = 0;
  for (std::size_t l = 0; l < weights.size(); ++l)
    if (l != lag) others += weights[l] * weights[l];
  return label_accuracy()(label_signal(weights[lag], others, strength));
}
template <class Kernel>
std::vector<double> weights_of(Kernel const& kernel) {
  std::vector<double> weights;
  for (int lag = 1; lag <= 1000; ++lag) weights.push_back(kernel(lag));
  return weights;
}

// Three deviations of 4000 questions are 0.024 at the most.
TEST(LabelRetrieval, IsWhatDrawnQuestionsHave) {
  auto const power_law = weights_of([](double lag) { return std::pow(lag, -0.3); });
  auto const exponential = weights_of([](double lag) { return std::exp(-0.004 * lag); });
  EXPECT_NEAR(drawn_accuracy(power_law, 9, 40, 4000), computed_accuracy(power_law, 9, 40), 0.024);
  EXPECT_NEAR(drawn_accuracy(power_law, 499, 100, 4000), computed_accuracy(power_law, 499, 100),
              0.024);
  EXPECT_NEAR(drawn_accuracy(exponential, 299, 60, 4000), computed_accuracy(exponential, 299, 60),
              0.024);
}

TEST(LabelRetrieval, IsAGuessWithoutASignalAndSureOfAStrongOne) {
  label_accuracy const accuracy;
  EXPECT_NEAR(accuracy(0), 1.0 / labels, 1e-12);
  EXPECT_NEAR(accuracy(10), 1, 1e-9);
  EXPECT_EQ(accuracy(50), accuracy(10));
}

}  // namespace
}  // namespace wane::bench
