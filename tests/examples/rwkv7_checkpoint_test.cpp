// rwkv7_checkpoint against the layer of flash-linear-attention, written as its formulas.
// SPDX-License-Identifier: MIT
#include "examples/checkpoint_case.hpp"

namespace support {
namespace {

constexpr std::size_t heads = 3, per_head = 8, width = heads * per_head;
constexpr std::size_t of_decay = 5, of_rate = 6, of_gate = 7, of_values = 4;

// The later layers of a model mix in the values of the first. k_k is small enough that the epsilon
// of the directions counts.
struct fla_weights : checkpoint_file {
  explicit fla_weights(bool is_later = false, std::size_t values_a_head = per_head)
      : checkpoint_file("model.layers.3.attn."),
        later(is_later),
        per_value(values_a_head),
        values(heads * per_value) {
    if (!later) return;
    v_down = linear("v_lora.lora.0.weight", of_values, width);
    v_up = linear("v_lora.lora.2.weight", at(values), of_values);
    v_bias = between("v_lora.lora.2.bias", -1, 1, {at(values)});
  }
  static wane::index at(std::size_t n) { return static_cast<wane::index>(n); }

  bool later;
  std::size_t per_value, values;
  matrix x_r = between("x_r", 0, 1, {1, 1, width}), x_w = between("x_w", 0, 1, {1, 1, width}),
         x_k = between("x_k", 0, 1, {1, 1, width}), x_v = between("x_v", 0, 1, {1, 1, width}),
         x_a = between("x_a", 0, 1, {1, 1, width}), x_g = between("x_g", 0, 1, {1, 1, width}),
         k_k = between("k_k", 0.001, 0.01, {width}), k_a = between("k_a", 0.5, 1.5, {width}),
         r_k = between("r_k", -0.5, 0.5, {heads, per_head}),
         r = linear("r_proj.weight", width, width), k = linear("k_proj.weight", width, width),
         v = linear("v_proj.weight", at(values), width),
         o = linear("o_proj.weight", width, at(values)),
         w_down = linear("w_lora.lora.0.weight", of_decay, width),
         w_up = linear("w_lora.lora.2.weight", width, of_decay),
         w_bias = between("w_lora.lora.2.bias", -6, 1, {width}),
         a_down = linear("a_lora.lora.0.weight", of_rate, width),
         a_up = linear("a_lora.lora.2.weight", width, of_rate),
         a_bias = between("a_lora.lora.2.bias", -1, 1, {width}),
         g_down = linear("g_lora.lora.0.weight", of_gate, width),
         g_up = linear("g_lora.lora.2.weight", at(values), of_gate),
         norm = between("g_norm.weight", 0.5, 1.5, {at(values)}),
         norm_bias = between("g_norm.bias", -0.3, 0.3, {at(values)}), v_down = {}, v_up = {},
         v_bias = {};
};

struct fla_sequence {
  fla_weights const& w;
  row before = row(width);
  std::vector<naive_state<double>> memory{heads, {per_head, w.per_value}};

  explicit fla_sequence(fla_weights const& of) : w(of) {}

  row operator()(row const& x) {
    row const change = difference(before, x);
    auto const mixed = [&](matrix const& share) { return sum(x, product(change, share.values)); };
    row const r = w.r * mixed(w.x_r), k = w.k * mixed(w.x_k);
    row v = w.v * mixed(w.x_v);
    if (w.later) {
      row const share = mapped(sum(w.v_up * (w.v_down * mixed(w.x_v)), w.v_bias.values), sigmoid);
      // The program's stand-in for the values of the first layer: the input, over and over.
      for (std::size_t c = 0; c < w.values; ++c)
        v[c] = (1 - share[c]) * v[c] + share[c] * x[c % width];
    }
    row const low = mapped(w.w_down * mixed(w.x_w), [](double a) { return std::tanh(a); });
    row const decay = mapped(sum(w.w_up * low, w.w_bias.values), sigmoid);
    row const a = mapped(sum(w.a_up * (w.a_down * mixed(w.x_a)), w.a_bias.values), sigmoid);
    row const g = w.g_up * mapped(w.g_down * mixed(w.x_g), sigmoid);
    before = x;

    row const kappa = product(k, w.k_k.values);
    row written = k;
    for (std::size_t c = 0; c < width; ++c) written[c] *= 1 + (a[c] - 1) * w.k_a.values[c];
    row y;
    for (std::size_t h = 0; h < heads; ++h) {
      auto const own = [&](row const& of) { return part(of, h * per_head, per_head); };
      auto const out = [&](row const& of) { return part(of, h * w.per_value, w.per_value); };
      row const removed = times(1 / std::sqrt(dot(own(kappa), own(kappa)) + 1e-6), own(kappa));
      // S <- (diag(e^(-e^(-1/2) decay)) - (a o kappa) kappa^T) S + k v^T
      auto& S = memory[h];
      row const erased = S.read(removed);
      S.fade(times(-std::exp(-0.5), own(decay)));
      S.write(times(-1., product(own(a), removed)), erased);
      S.write(own(written), out(v));
      row const normed = centred_norm(S.read(own(r)), 1e-5 * double{per_head});
      double const bonus = dot(own(r), product(own(written), w.r_k[h]));
      append(y, sum(sum(product(normed, out(w.norm.values)), out(w.norm_bias.values)),
                    times(bonus, out(v))));
    }
    return w.o * product(y, g);
  }
};

TEST(Rwkv7Checkpoint, IsTheFirstLayerOfFlashLinearAttention) {
  expect_checkpoint<fla_sequence>(EXAMPLE_RWKV7_CHECKPOINT, fla_weights(), width);
}

TEST(Rwkv7Checkpoint, IsALaterLayerWhoseFirstValuesAreItsInput) {
  expect_checkpoint<fla_sequence>(EXAMPLE_RWKV7_CHECKPOINT, fla_weights(true), width);
}

TEST(Rwkv7Checkpoint, MayHaveMoreValuesThanKeys) {
  for (bool const later : {false, true})
    expect_checkpoint<fla_sequence>(EXAMPLE_RWKV7_CHECKPOINT, fla_weights(later, 2 * per_head),
                                    width);
}

TEST(Rwkv7Checkpoint, RefusesFilesThatDoNotFit) {
  wane::bench::scratch const place;
  std::string const file = place.file("w");
  auto const expect_refusal = [&](std::string const& layer, std::string const& says) {
    auto const result =
        wane::bench::run(EXAMPLE_RWKV7_CHECKPOINT, {"--weights", file, "--layer", layer});
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.error_lines(), 1) << result.err;
    EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
  };
  fla_weights().write(file);
  expect_refusal("0", "no tensor 'model.layers.0.attn.r_proj.weight'");
  fla_weights(false, per_head + 1).write(file);
  expect_refusal("3", "must be a multiple of 24");
}

}  // namespace
}  // namespace support
