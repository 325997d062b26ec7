// mamba2_post_layer against PoST's Algorithm 2.
// SPDX-License-Identifier: MIT
#include "examples/layer_case.hpp"

namespace support {
namespace {

constexpr std::size_t width = 128, heads = 8, per_head = 32, states = 64, taps = 4;
constexpr std::size_t inner = heads * per_head, convolved = inner + 2 * states;

struct mamba2_weights : weight_file {
  matrix in = linear(inner + convolved + heads, width), convolution = linear(convolved, taps),
         convolution_bias = between(-0.3, 0.3, 1, convolved), decay = spectrum(-5, -1, 4, heads),
         dt_bias = between(-4, -2, 1, heads), D = between(0.5, 1.5, 1, heads),
         norm = between(0.5, 1.5, 1, inner), out = linear(width, inner);
};

struct mamba2_sequence {
  mamba2_weights const& w;
  row p = post_map(w.decay), alpha = post_taper(p);
  short_convolution convolution{w.convolution};
  std::vector<naive_state<double>> memory{heads, {states, per_head}};
  double t = 0;

  explicit mamba2_sequence(mamba2_weights const& of) : w(of) {}

  row operator()(row const& u) {
    ++t;
    row const all = w.in * u, z = part(all, 0, inner), dt = part(all, inner + convolved, heads);
    row const xBC =
        mapped(sum(convolution(part(all, inner, convolved)), w.convolution_bias.values), silu);
    row const B = part(xBC, inner, states), C = part(xBC, inner + states, states);
    row y;
    for (std::size_t h = 0; h < heads; ++h) {
      row const x = part(xBC, h * per_head, per_head);
      double const delta = softplus(dt[h] + w.dt_bias.values[h]);
      auto& S = memory[h];
      S.fade(row(states, -std::exp(p[h]) * std::pow(t, -alpha[h]) * delta));
      S.write(times(delta, B), x);
      append(y, sum(S.read(C), times(w.D.values[h], x)));
    }
    return w.out * product(product(rms_norm(y, 1e-5), w.norm.values), mapped(z, silu));
  }
};

TEST(Mamba2PostLayer, IsAlgorithmTwo) {
  expect_layer<mamba2_sequence>(EXAMPLE_MAMBA2_POST_LAYER, mamba2_weights());
}

}  // namespace
}  // namespace support
