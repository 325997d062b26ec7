// mamba2_checkpoint against the layer of transformers, written as its formulas.
// SPDX-License-Identifier: MIT
#include "examples/checkpoint_case.hpp"

namespace support {
namespace {

constexpr std::size_t width = 20, heads = 3, per_head = 10, states = 7, taps = 4;
constexpr std::size_t inner = heads * per_head, convolved = inner + 2 * states;

struct mixer_weights : checkpoint_file {
  mixer_weights() : checkpoint_file("backbone.layers.3.mixer.") {}

  matrix in = linear("in_proj.weight", inner + convolved + heads, width),
         convolution = between("conv1d.weight", -1, 1, {convolved, 1, taps}),
         convolution_bias = between("conv1d.bias", -0.5, 0.5, {convolved}),
         A_log = between("A_log", -1, 2, {heads}), dt_bias = between("dt_bias", -5, -1, {heads}),
         D = between("D", 0.5, 1.5, {heads}), norm = between("norm.weight", 0.5, 1.5, {inner}),
         out = linear("out_proj.weight", width, inner);
};

struct mixer_sequence {
  mixer_weights const& w;
  short_convolution convolution{w.convolution};
  std::vector<naive_state<double>> memory{heads, {states, per_head}};

  explicit mixer_sequence(mixer_weights const& of) : w(of) {}

  row operator()(row const& u) {
    row const all = w.in * u, z = part(all, 0, inner), raw = part(all, inner + convolved, heads);
    row const xBC =
        mapped(sum(convolution(part(all, inner, convolved)), w.convolution_bias.values), silu);
    row const B = part(xBC, inner, states), C = part(xBC, inner + states, states);
    row y;
    for (std::size_t h = 0; h < heads; ++h) {
      row const x = part(xBC, h * per_head, per_head);
      double const dt = softplus(raw[h] + w.dt_bias.values[h]);
      // S <- e^(-e^A_log dt) S + B (dt x)^T; y = S^T C + D x
      memory[h].fade(row(states, -std::exp(w.A_log.values[h]) * dt));
      memory[h].write(B, times(dt, x));
      append(y, sum(memory[h].read(C), times(w.D.values[h], x)));
    }
    return w.out * product(rms_norm(product(y, mapped(z, silu)), 1e-5), w.norm.values);
  }
};

TEST(Mamba2Checkpoint, IsTheLayerOfTransformers) {
  expect_checkpoint<mixer_sequence>(EXAMPLE_MAMBA2_CHECKPOINT, mixer_weights(), width);
}

TEST(Mamba2Checkpoint, RefusesABiasOfTheProjections) {
  wane::bench::scratch const place;
  std::string const file = place.file("w");
  mixer_weights biased;
  biased.linear("in_proj.bias", 1, width);
  biased.write(file);
  auto const result =
      wane::bench::run(EXAMPLE_MAMBA2_CHECKPOINT, {"--weights", file, "--layer", "3"});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("must have no bias"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace support
