// A memory that fades as l^{-1/2}: two decay spectra compared, then run as a bank of exponentials.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>
#include <wane/spectra/fit/fit.hpp>
#include <wane/spectra/rates/geometric.hpp>
#include <wane/wane.hpp>

namespace spectra = wane::spectra;

constexpr wane::index horizon = 4096;
constexpr int channels = 16;

// y_t = sum_{l >= 1} k(l) v_{t-l}, as it is written: T^2 / 2 products.
std::vector<double> convolved(std::vector<double> const& v) {
  auto const kernel =
      spectra::values_at(spectra::power_law(0.5), spectra::log_spaced_lags(horizon, horizon, 1));
  std::vector<double> y(v.size());
  for (std::size_t t = 0; t < v.size(); ++t)
    for (std::size_t l = 1; l <= t; ++l) y[t] += kernel[l - 1] * v[t - l];
  return y;
}

// The same with N states: h_s <- e^{-r_s} h_s + v, y = sum_s c_s (h_s - v). Lag 0 is taken off by
// the direct term. State and arithmetic in double: weights of both signs cancel.
std::vector<double> remembered(std::vector<double> const& v, std::vector<double> const& rates,
                               std::vector<double> const& weights) {
  auto const states = static_cast<wane::index>(rates.size());
  auto const tokens = static_cast<wane::index>(v.size());
  std::vector<double> log_decay, key(rates.size(), 1.0), y(v.size());
  double direct = 0;
  for (double r : rates) log_decay.push_back(-r);
  for (double c : weights) direct -= c;
  wane::exponential_bank<double> const bank({.value = {v.data(), 1, tokens, 1, 1},
                                             .log_decay = {log_decay.data(), 1, states},
                                             .key = {key.data(), 1, states},
                                             .query = {weights.data(), 1, states},
                                             .direct = {&direct, 1}});
  wane::run(bank, {y.data(), 1, tokens, 1, 1});
  return y;
}

int main() {
  std::mt19937 bits(1);
  std::normal_distribution<double> normal;
  std::vector<double> v(horizon);
  for (double& x : v) x = normal(bits);
  std::vector<double> const exact = convolved(v);
  double size = 0;
  for (double y : exact) size = std::max(size, std::abs(y));

  std::printf("%d rates, l^-1/2 on lags 1..%d      kernel        output\n", channels, int{horizon});
  auto const compare = [&](char const* name, spectra::range range) {
    auto const rates = spectra::geometric(channels, range);
    auto const fit = spectra::fit(rates, spectra::power_law(0.5), horizon);
    auto const y = remembered(v, rates, fit.weights);
    double worst = 0;
    for (std::size_t t = 0; t < y.size(); ++t) worst = std::max(worst, std::abs(y[t] - exact[t]));
    std::printf("  %-32s  %.1e       %.1e\n", name, fit.max_absolute_error, worst / size);
    return worst / size;
  };
  double const unit = compare("geometric on [1/T, 1]", spectra::unit_range(horizon));
  double const wide = compare("geometric on [0.3/T, 4]", spectra::wide_range(horizon));
  std::printf("the wide range is %.0f times better\n", unit / wide);
  return wide < 1e-4 && unit > 10 * wide ? 0 : 1;
}
