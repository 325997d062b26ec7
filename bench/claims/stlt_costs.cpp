// STLT (arXiv 2506.15714), section 4.6: linear time, and the cost of the mask.
// SPDX-License-Identifier: MIT
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "claims/claim.hpp"
#include "shared/stopwatch.hpp"
#include "wane/operators/laplace.hpp"
#include "wane/run/run.hpp"

namespace wane::bench {
namespace {

constexpr index nodes = 64;  // the paper's S_max

// Nodes as section 3.7 initialises them.
struct layer {
  index tokens, channels;
  std::vector<float> sigma, omega, mask, x, y;
  std::vector<std::complex<float>> read_out;

  layer(index n, index c) : tokens(n), channels(c) {
    for (index k = 0; k < nodes; ++k) {
      float const at = static_cast<float>(k) / (nodes - 1);
      sigma.push_back(0.7f * std::pow(0.001f / 0.7f, at)), omega.push_back(3 * at);
      mask.push_back(0.5f + at / 2), read_out.emplace_back(0.3f, at);
    }
    for (index i = 0; i < n * c; ++i)
      x.push_back(static_cast<float>(i * 7919 % 1013) / 1013 - 0.5f);
    y.resize(x.size());
  }
  void take(bool masked) {
    laplace_parameters<float const> all{.sigma = {sigma.data(), 1, nodes},
                                        .omega = {omega.data(), 1, nodes},
                                        .read_out = {read_out.data(), 1, nodes, 1}};
    if (masked) all.mask = {mask.data(), 1, nodes};
    run(laplace<float>({.value = {x.data(), 1, tokens, 1, channels}}, all),
        sequence_view<float>(y.data(), 1, tokens, 1, channels),
        run_options<std::complex<float>>{.threads = 1});
  }
  // The least of several.
  double seconds(int times) {
    take(false);
    double least = HUGE_VAL;
    for (int i = 0; i < times; ++i) least = std::min(least, seconds_of([&] { take(false); }, 1, 1));
    return least;
  }
};

finding three_lengths() {
  double const first = layer(1024, 512).seconds(15), second = layer(4096, 512).seconds(7),
               third = layer(16384, 512).seconds(5);
  double const found = std::log(third / first) / std::log(16);
  char remark[300];
  std::snprintf(remark, sizeof remark,
                "S 64, d 512, one thread, the least of some in processor time: %.2f, %.2f, %.2f ms "
                "for N = 1024, 4096, 16384, where the paper has 10, 38, 150 on an A100; the "
                "shortest are in a cache here, the longest are not; quadratic is 2",
                1e3 * first, 1e3 * second, 1e3 * third);
  return {found, std::abs(found - 1) < 0.25, false, remark};
}

finding linear_time() {
  double per_token[4];
  index tokens = 1000;
  for (double& each : per_token) {
    each = layer(tokens, 64).seconds(tokens > 100000 ? 3 : 15) / static_cast<double>(tokens);
    tokens *= 10;
  }
  double const found =
      *std::max_element(per_token, per_token + 4) / *std::min_element(per_token, per_token + 4);
  char remark[240];
  std::snprintf(remark, sizeof remark,
                "S 64, d 64, one thread: %.0f, %.0f, %.0f, %.0f ns a token for N = 10^3 to 10^6; "
                "quadratic time would have a factor of 1000",
                1e9 * per_token[0], 1e9 * per_token[1], 1e9 * per_token[2], 1e9 * per_token[3]);
  return {found, found < 2, false, remark};
}

// alpha = sigmoid(W pool(X) + b), pool the mean, once a sequence; masked nodes against all.
finding cost_of_mask() {
  constexpr std::size_t rounds = 101, low = 37, high = 63;  // 99 % for the median
  layer all(1024, 512);
  using rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  rows const weight = rows::Random(nodes, all.channels);
  Eigen::VectorXf const bias = Eigen::VectorXf::Random(nodes);
  auto const adaptive = [&] {
    Eigen::Map<rows const> const x(all.x.data(), all.tokens, all.channels);
    Eigen::VectorXf const pooled = x.colwise().mean().transpose();
    Eigen::VectorXf const logit = weight * pooled + bias;
    for (index k = 0; k < nodes; ++k)
      all.mask[static_cast<std::size_t>(k)] = 1 / (1 + std::exp(-logit(k)));
    all.take(true);
  };
  auto const plain = [&] { all.take(false); };
  adaptive(), plain();
  std::vector<double> differences, alone;
  for (std::size_t i = 0; i < rounds; ++i) {
    double times[2];
    for (std::size_t turn : {i % 2, 1 - i % 2})
      times[turn] = turn ? seconds_of(adaptive, 1, 1) : seconds_of(plain, 1, 1);
    differences.push_back(times[1] - times[0]), alone.push_back(times[0]);
  }
  std::sort(differences.begin(), differences.end());
  double const forward = median(alone);
  char remark[300];
  std::snprintf(remark, sizeof remark,
                "S 64, d 512, N 1024, one thread, median of 101 rounds of %.2f ms, surely %.2f to "
                "%.2f; the mean over tokens, its product with W, and the mask in the weights; "
                "fails where all of that is above 2",
                1e3 * forward, 100 * differences[low] / forward, 100 * differences[high] / forward);
  return {100 * differences[rounds / 2] / forward, differences[low] < 0.02 * forward, false,
          remark};
}

}  // namespace

std::vector<claim> stlt_cost_claims() {
  return {{"stlt-4.6-linear", "STLT, section 4.6",
           "exponent of time in N, from 1024 to 16384 tokens: log 15 / log 16",
           std::log(15) / std::log(16), three_lengths},
          {"stlt-4.6-mask", "STLT, section 4.6",
           "per cent of a forward pass that adaptive nodes cost, below", 2, cost_of_mask}};
}

std::vector<claim> stlt_long_claims() {
  return {{"stlt-million", "STLT, abstract",
           "most time a token over least, N = 10^3 to 10^6; O(N S) is 1", 1, linear_time}};
}

}  // namespace wane::bench
