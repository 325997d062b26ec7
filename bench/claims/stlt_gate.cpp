// The claims of STLT (A. Kiruluta) about its gate of nodes: section 3.6.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "claims/claim.hpp"
#include "wane/spectra/nodes/binary_concrete.hpp"
#include "wane/spectra/rates/random.hpp"

namespace wane::bench {
namespace {

using namespace spectra;

constexpr std::int64_t draws = 1000000;
constexpr double five_errors = 0.0025;  // standard ones, of means of so many numbers in [0, 1]

// As printed: -log(-log u).
std::vector<double> gumbel_noise() {
  std::mt19937_64 bits(1);
  std::vector<double> noise(draws);
  for (double& g : noise) g = -std::log(-std::log(1 - unit_uniform(bits)));
  return noise;
}

// Of masks with this alpha and noise: their mean, and how many would be chosen.
struct draw {
  double mean = 0, chosen = 0;
};
draw masks(double alpha, double temperature, std::vector<double> const& noise) {
  std::vector<double> const logits(noise.size(), std::log(alpha / (1 - alpha)));
  draw d;
  for (double m : relaxed_mask(logits, temperature, noise))
    d.mean += m, d.chosen += m > 0.5 ? 1 : 0;
  return {d.mean / draws, d.chosen / draws};
}

// Means at the three temperatures, for a remark.
std::string means(double alpha, std::vector<double> const& noise) {
  char text[60];
  std::snprintf(text, sizeof text, "%.3f, %.3f, %.3f", masks(alpha, 1, noise).mean,
                masks(alpha, 0.5, noise).mean, masks(alpha, 0.1, noise).mean);
  return text;
}

// alpha 1/2 is a coin: mask and 1 - mask are as likely.
finding mean_of_a_coin() {
  auto const gumbel = gumbel_noise(), logistic = logistic_noise(draws, 1);
  double const found = masks(0.5, 1, gumbel).mean;
  bool fair = true;
  for (double temperature : {1., 0.5, 0.1})
    fair &= std::abs(masks(0.5, temperature, logistic).mean - 0.5) < five_errors;
  return {found, std::abs(found - 0.5) < five_errors, fair,
          "temperatures 1, 0.5, 0.1: " + means(0.5, gumbel) + ", with log u - log(1-u) " +
              means(0.5, logistic) + "; alpha 0.9: " + means(0.9, gumbel) + " and " +
              means(0.9, logistic)};
}

// The probability that a mask is above the hard threshold 1/2; no temperature changes it.
finding chosen() {
  auto const gumbel = gumbel_noise(), logistic = logistic_noise(draws, 1);
  double const found = masks(0.5, 1, gumbel).chosen, often = masks(0.9, 1, gumbel).chosen;
  double const half = masks(0.5, 1, logistic).chosen, most = masks(0.9, 1, logistic).chosen;
  char remark[200];
  std::snprintf(remark, sizeof remark,
                "1 - exp(-alpha/(1-alpha)) = %.4f; alpha 0.9: %.4f; with log u - log(1-u) %.4f and "
                "%.4f",
                1 - std::exp(-1.), often, half, most);
  return {found, std::abs(found - 0.5) < five_errors,
          std::abs(half - 0.5) < five_errors && std::abs(most - 0.9) < five_errors, remark};
}

}  // namespace

std::vector<claim> stlt_gate_claims() {
  return {
      {"stlt-3.6-mean", "STLT, section 3.6", "mean of a mask with alpha 1/2", 0.5, mean_of_a_coin},
      {"stlt-3.6-chosen", "STLT, section 3.6", "P(mask > 1/2) with alpha 1/2", 0.5, chosen}};
}

}  // namespace wane::bench
