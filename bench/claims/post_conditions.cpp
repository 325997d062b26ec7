// Claims of PoST (arXiv 2604.07658): its conditions on data, and how RWKV-7 begins.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "claims/claim.hpp"
#include "wane/spectra/rates/linear.hpp"
#include "wane/spectra/rates/rwkv7_initial.hpp"

namespace wane::bench {
namespace {

using namespace spectra;

// The autocovariance of fractional Gaussian noise, beta = 2 - 2H.
double of_noise(double s, double beta) {
  auto const power = [&](double x) { return std::pow(std::abs(x), 2 - beta); };
  return (power(s + 1) - 2 * power(s) + power(s - 1)) / 2;
}

// That of means of `block` values at lag s: sum_j (b - |j|) R(b s + j) / b^2.
template <class Covariance>
double of_block_means(Covariance const& covariance, int block, int s) {
  double sum = 0;
  for (int j = 1 - block; j < block; ++j) sum += (block - std::abs(j)) * covariance(block * s + j);
  return sum / (block * block);
}

// Lemma 3.6: a process whose block means satisfy (4) has R(s) = C s^-beta.
finding self_similar_covariance() {
  constexpr double beta = 0.5;
  auto const noise = [](double s) { return of_noise(s, beta); };
  auto const power = [](double s) { return std::pow(s, -beta); };
  double off = 0, off_power = 0;
  for (int const b : {2, 3, 10, 100}) {
    for (int const s : {1, 2, 7}) {
      double const scale = std::pow(b, -beta);
      off = std::max(off, std::abs(of_block_means(noise, b, s) / (scale * noise(s)) - 1));
      off_power =
          std::max(off_power, std::abs(of_block_means(power, b, s) / (scale * power(s)) - 1));
    }
  }
  double const found = noise(2) / noise(1) * std::exp2(beta);
  char remark[200];
  std::snprintf(
      remark, sizeof remark,
      "fractional Gaussian noise, beta 1/2: its block means are off (4) by %.0e, its R(2) "
      "is %.3f of the power law's; block means of s^-1/2 are off (4) by up to %.2f",
      off, found, off_power);
  return {found, std::abs(found - 1) < 0.01, off < 1e-9 && found < 0.93, remark};
}

// Table 8: the range of RWKV-7's initial logits.
finding range_of_logits() {
  double low = 0, high = 0;
  for (std::int64_t layer = 0; layer < 12; ++layer) {
    auto const logits = rwkv7_initial_logits(768, 64, {.layer = layer, .layers = 12});
    auto const [least, most] = std::minmax_element(logits.begin(), logits.end());
    low = std::min(low, *least);
    high = std::max(high, *most);
  }
  char remark[120];
  std::snprintf(remark, sizeof remark,
                "12 layers of 768 channels: from %.1f to %.1f; without the zigzag -5.5 to 0.5", low,
                high);
  return {high, std::abs(high - 5.5) < 0.01,
          std::abs(high - 3) < 1e-12 && std::abs(low + 8) < 1e-12, remark};
}

// Section 4.1.2: that RWKV-7 puts its rates on a linear grid.
finding linear_grid() {
  auto const ratio_of = [](std::vector<double> rates) {
    std::sort(rates.begin(), rates.end());
    auto const n = rates.size();
    return (rates[n - 1] - rates[3 * n / 4]) / (rates[n / 4] - rates[0]);
  };
  double const found =
      ratio_of(rwkv7_rates(rwkv7_initial_logits(768, 64, {.layer = 5, .layers = 12})));
  char remark[160];
  std::snprintf(remark, sizeof remark,
                "range of the fastest quarter of the rates over that of the slowest, 768 channels "
                "in the middle layer; linear(768): %.3f",
                ratio_of(linear(768)));
  return {found, found < 2, false, remark};
}

}  // namespace

std::vector<claim> post_condition_claims() {
  return {{"post-3.6", "PoST, Lemma 3.6", "R(2) 2^beta / R(1) where block means satisfy (4)", 1,
           self_similar_covariance},
          {"post-table8", "PoST, Table 8", "largest initial logit of RWKV-7", 5.5, range_of_logits},
          {"post-4.1.2", "PoST, section 4.1.2",
           "rates of RWKV-7 on a linear grid: last quarter over the first", 1, linear_grid}};
}

}  // namespace wane::bench
