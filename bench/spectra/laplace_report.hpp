// The memory of Laplace nodes: half-life, period, and the part that the window leaves.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spectra/laplace_layers.hpp"
#include "wane/spectra/nodes/laplace_nodes.hpp"
#include "wane/spectra/nodes/window.hpp"
#include "wane/spectra/nodes/window_terms.hpp"

namespace wane::bench {

// sum_l p^l and sum_l l p^l, where p = e^z.
struct pole_sums {
  std::complex<double> sum, moment;
};

// Over 0 <= l < count, by halves: nothing cancels where p is close to 1.
inline pole_sums sums_of_pole(std::complex<double> z, double count) {
  if (count < 1) return {};
  double const half = std::floor(count / 2), last = count - 1;
  auto found = sums_of_pole(z, half);
  auto const power = std::exp(z * half);
  found.moment += power * (found.moment + half * found.sum);
  found.sum += power * found.sum;
  if (count > 2 * half) {
    found.sum += std::exp(z * last);
    found.moment += last * std::exp(z * last);
  }
  return found;
}

// Over all l >= 0, for Re z < 0.
inline pole_sums sums_of_pole(std::complex<double> z) {
  double const turned = std::sin(z.imag() / 2);
  std::complex<double> const less{2 * turned * turned - std::expm1(z.real()) * std::cos(z.imag()),
                                  -std::exp(z.real()) * std::sin(z.imag())};  // 1 - p
  return {1.0 / less, std::exp(z) / (less * less)};
}

// How a node weights the past, w(l) |r|^l at lag l.
struct windowed_memory {
  double sum = 0;       // over all lags
  double mean_lag = 0;  // tokens
};

// For |r| = e^-rate.
inline windowed_memory memory_of(double rate, spectra::window const& window) {
  std::complex<double> sum, moment;
  for (auto const& term : spectra::window_terms(window.shape())) {
    auto const z = term.exponent / window.width() - rate;
    auto const part = spectra::is_cut(window.shape()) ? sums_of_pole(z, std::ceil(window.width()))
                                                      : sums_of_pole(z);
    sum += term.weight * part.sum;
    moment += term.weight * part.moment;
  }
  return {sum.real(), std::max(0.0, moment.real() / sum.real())};
}

struct node_report {
  double half_life = 0;          // tokens, without the window
  std::optional<double> period;  // tokens; empty where the node does not turn
  double mean_lag = 0;           // tokens, with the window
  double cut = 0;                // the share of sum_l |r|^l that the window takes away
};

struct laplace_layer_report {
  laplace_layer layer;
  std::vector<node_report> nodes;

  double mask(std::size_t k) const { return layer.mask.empty() ? 1 : layer.mask[k]; }
};

struct laplace_report {
  std::string file;
  std::vector<laplace_layer_report> layers;
};

inline node_report report_on(spectra::laplace_nodes const& nodes, spectra::window const& window,
                             std::size_t k) {
  double const rate = nodes.sigma[k] * nodes.step;
  auto const memory = memory_of(rate, window);
  double const whole = sums_of_pole(-rate).sum.real();
  node_report found{.half_life = nodes.half_life(k),
                    .period = {},
                    .mean_lag = memory.mean_lag,
                    .cut = std::clamp(1 - memory.sum / whole, 0.0, 1.0)};
  if (nodes.omega[k] != 0) found.period = 1 / std::abs(nodes.frequency(k));
  return found;
}

inline laplace_report report_on_laplace(std::string const& file) {
  laplace_report found{file, {}};
  for (auto& layer : read_laplace_layers(file)) {
    laplace_layer_report one;
    for (std::size_t k = 0; k < layer.nodes.sigma.size(); ++k) {
      one.nodes.push_back(report_on(layer.nodes, layer.window, k));
    }
    one.layer = std::move(layer);
    found.layers.push_back(std::move(one));
  }
  return found;
}

}  // namespace wane::bench
