// gated_delta_net_checkpoint against the layer of flash-linear-attention, written as its formulas.
// SPDX-License-Identifier: MIT
#include "examples/checkpoint_case.hpp"

namespace support {
namespace {

constexpr std::size_t width = 20, heads = 3, per_key = 8, per_value = 12, taps = 4;
constexpr std::size_t keys = heads * per_key, values = heads * per_value;

struct fla_weights : checkpoint_file {
  fla_weights() : checkpoint_file("model.layers.3.attn.") {}

  matrix q = linear("q_proj.weight", keys, width), k = linear("k_proj.weight", keys, width),
         v = linear("v_proj.weight", values, width), a = linear("a_proj.weight", heads, width),
         b = linear("b_proj.weight", heads, width), A_log = between("A_log", -1, 2, {heads}),
         dt_bias = between("dt_bias", -6, -2, {heads}),
         q_taps = between("q_conv1d.weight", -1, 1, {keys, 1, taps}),
         k_taps = between("k_conv1d.weight", -1, 1, {keys, 1, taps}),
         v_taps = between("v_conv1d.weight", -1, 1, {values, 1, taps}),
         g = linear("g_proj.weight", values, width),
         norm = between("o_norm.weight", 0.5, 1.5, {per_value}),
         o = linear("o_proj.weight", width, values);
};

struct fla_sequence {
  fla_weights const& w;
  short_convolution q_convolution{w.q_taps}, k_convolution{w.k_taps}, v_convolution{w.v_taps};
  std::vector<naive_state<double>> memory{heads, {per_key, per_value}};

  explicit fla_sequence(fla_weights const& of) : w(of) {}

  static row direction(row const& x) { return times(1 / std::sqrt(dot(x, x) + 1e-6), x); }

  row operator()(row const& x) {
    row const q = mapped(q_convolution(w.q * x), silu), k = mapped(k_convolution(w.k * x), silu),
              v = mapped(v_convolution(w.v * x), silu), beta = mapped(w.b * x, sigmoid);
    row const step = sum(w.a * x, w.dt_bias.values);
    row y;
    for (std::size_t h = 0; h < heads; ++h) {
      row const key = direction(part(k, h * per_key, per_key)),
                query = direction(part(q, h * per_key, per_key));
      // S <- e^g S; S <- S + beta k (v - S^T k)^T
      auto& S = memory[h];
      S.fade(row(per_key, -std::exp(w.A_log.values[h]) * softplus(step[h])));
      row const error = difference(part(v, h * per_value, per_value), S.read(key));
      S.write(times(beta[h], key), error);
      row const o = times(1 / std::sqrt(double{per_key}), S.read(query));
      append(y, product(rms_norm(o, 1e-6), w.norm.values));
    }
    return w.o * product(y, mapped(w.g * x, silu));
  }
};

TEST(GatedDeltaNetCheckpoint, IsTheLayerOfFlashLinearAttention) {
  expect_checkpoint<fla_sequence>(EXAMPLE_GATED_DELTA_NET_CHECKPOINT, fla_weights(), width);
}

TEST(GatedDeltaNetCheckpoint, RefusesFilesThatDoNotFit) {
  wane::bench::scratch const place;
  std::string const file = place.file("w");
  auto const expect_refusal = [&](std::vector<std::string> const& arguments,
                                  std::string const& says) {
    auto const result = wane::bench::run(EXAMPLE_GATED_DELTA_NET_CHECKPOINT, arguments);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.error_lines(), 1) << result.err;
    EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
  };
  fla_weights().write(file);
  expect_refusal({"--weights", file}, "no tensor 'model.layers.0.attn.q_proj.weight'");
  expect_refusal({"--weights", place.file("none")}, "cannot be read");
  expect_refusal({"--weights", place.write("x", "12345678")}, "no sound safetensors file");
  expect_refusal({"--weight", file}, "it must be --weights FILE");
  expect_refusal({"--layer"}, "it must be --weights FILE");
  fla_weights biased;
  biased.linear("q_conv1d.bias", 1, keys);
  biased.write(file);
  expect_refusal({"--weights", file, "--layer", "3"}, "must have no bias");
}

TEST(GatedDeltaNetCheckpoint, SavesWhatItReads) {
  wane::bench::scratch const place;
  std::string const first = place.file("1"), second = place.file("2");
  auto const outcome = wane::bench::run(EXAMPLE_GATED_DELTA_NET_CHECKPOINT, {"--save", first});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(
      wane::bench::run(EXAMPLE_GATED_DELTA_NET_CHECKPOINT, {"--weights", first, "--save", second})
          .status,
      0);
  EXPECT_EQ(wane::bench::content_of(first), wane::bench::content_of(second));
}

}  // namespace
}  // namespace support
