// gated_delta_net_layer against Yang, Kautz and Hatamizadeh 2025, with the decays of PoST.
// SPDX-License-Identifier: MIT
#include "examples/layer_case.hpp"

namespace support {
namespace {

constexpr std::size_t width = 128, heads = 4, per_key = 32, per_value = 64, taps = 4;
constexpr std::size_t keys = heads * per_key, values = heads * per_value;
constexpr std::size_t convolved = 2 * keys + values;

struct delta_weights : weight_file {
  matrix in = linear(convolved, width), convolution = linear(convolved, taps),
         strength = linear(heads, width), step = linear(heads, width),
         step_bias = between(-8, -6, 1, heads), decay = spectrum(0, 0, 4, heads),
         gate = linear(values, width), norm = between(0.5, 1.5, 1, per_value),
         output = linear(width, values);
};

struct delta_sequence {
  delta_weights const& w;
  row A_log = post_map(w.decay), alpha = post_taper(A_log);
  short_convolution convolution{w.convolution};
  std::vector<naive_state<double>> memory{heads, {per_key, per_value}};
  double t = 0;

  explicit delta_sequence(delta_weights const& of) : w(of) {}

  static row direction(row const& x) { return times(1 / std::sqrt(dot(x, x) + 1e-6), x); }

  row operator()(row const& x) {
    ++t;
    row const qkv = mapped(convolution(w.in * x), silu), step = w.step * x;
    row const beta = mapped(w.strength * x, sigmoid);
    row y;
    for (std::size_t h = 0; h < heads; ++h) {
      row const q = direction(part(qkv, h * per_key, per_key)),
                k = direction(part(qkv, keys + h * per_key, per_key)),
                v = part(qkv, 2 * keys + h * per_value, per_value);
      double const g =
          -std::exp(A_log[h]) * softplus(step[h] + w.step_bias.values[h]) * std::pow(t, -alpha[h]);
      // S <- e^g (I - beta k k^T) S + beta k v^T
      auto& S = memory[h];
      S.write(times(-beta[h], k), S.read(k));
      S.fade(row(per_key, g));
      S.write(times(beta[h], k), v);
      row const o = times(1 / std::sqrt(double{per_key}), S.read(q));
      append(y, product(rms_norm(o, 1e-5), w.norm.values));
    }
    return w.output * product(y, mapped(w.gate * x, silu));
  }
};

TEST(GatedDeltaNetLayer, IsTheGatedDeltaRuleBetweenConvolutionAndNorm) {
  expect_layer<delta_sequence>(EXAMPLE_GATED_DELTA_NET_LAYER, delta_weights());
}

}  // namespace
}  // namespace support
