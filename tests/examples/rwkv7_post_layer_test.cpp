// rwkv7_post_layer against PoST's Algorithm 3 and the time mixing of Peng et al. 2025.
// SPDX-License-Identifier: MIT
#include "examples/layer_case.hpp"

namespace support {
namespace {

constexpr std::size_t width = 128, heads = 4, per_head = 32, low = 16, gate_low = 32;

struct rwkv7_weights : weight_file {
  matrix decay = spectrum(-6, -5, -1.5, width), mix = between(0, 1, 6, width),
         receptance = linear(width, width), key = linear(width, width),
         value = linear(width, width), output = linear(width, width),
         decay_down = linear(low, width), decay_up = linear(width, low),
         decay_bias = between(-1, 1, 1, width), rate_down = linear(low, width),
         rate_up = linear(width, low), rate_bias = between(-1, 1, 1, width),
         gate_down = linear(gate_low, width), gate_up = linear(width, gate_low),
         removal_scale = between(0.5, 1.5, 1, width), key_rate = between(0.5, 1.5, 1, width),
         bonus = between(-0.5, 0.5, 1, width), norm = between(0.5, 1.5, 1, width),
         norm_bias = between(-0.3, 0.3, 1, width);
};

struct rwkv7_sequence {
  rwkv7_weights const& w;
  row w0 = post_map(w.decay);
  // Line 9: p_k = log sigmoid(w0_k).
  row alpha = post_taper(mapped(w0, [](double x) { return std::log(sigmoid(x)); }));
  row before = row(width);
  std::vector<naive_state<double>> memory{heads, {per_head, per_head}};
  double t = 0;

  explicit rwkv7_sequence(rwkv7_weights const& of) : w(of) {}

  row operator()(row const& x) {
    ++t;
    row const change = difference(before, x);
    auto const mixed = [&](std::size_t n) { return sum(x, product(change, w.mix[n])); };
    row const r = w.receptance * mixed(0), k = w.key * mixed(2), v = w.value * mixed(3);
    row const logit =
        sum(w.decay_up * mapped(w.decay_down * mixed(1), [](double a) { return std::tanh(a); }),
            sum(w.decay_bias.values, w0));
    row const a = mapped(sum(w.rate_up * (w.rate_down * mixed(4)), w.rate_bias.values), sigmoid);
    row const g = w.gate_up * mapped(w.gate_down * mixed(5), sigmoid);
    before = x;

    row const kappa = product(k, w.removal_scale.values);
    row written = k, log_decay;
    for (std::size_t c = 0; c < width; ++c) {
      written[c] *= 1 + (a[c] - 1) * w.key_rate.values[c];
      log_decay.push_back(-std::exp(-0.5) * sigmoid(logit[c] - alpha[c] * std::log(t)));
    }
    row y;
    for (std::size_t c = 0; c < width; c += per_head) {
      auto const own = [&](row const& of) { return part(of, c, per_head); };
      row const removed = times(1 / std::sqrt(dot(own(kappa), own(kappa))), own(kappa));
      // S <- (diag(w) - (a o kappa) kappa^T) S + k v^T
      auto& S = memory[c / per_head];
      row const erased = S.read(removed);
      S.fade(own(log_decay));
      S.write(times(-1., product(own(a), removed)), erased);
      S.write(own(written), own(v));
      row const o = sum(product(centred_norm(S.read(own(r)), 64e-5), own(w.norm.values)),
                        own(w.norm_bias.values));
      double const bonus = dot(own(r), product(own(written), own(w.bonus.values)));
      append(y, sum(o, times(bonus, own(v))));
    }
    return w.output * product(y, g);
  }
};

TEST(Rwkv7PostLayer, IsAlgorithmThree) {
  expect_layer<rwkv7_sequence>(EXAMPLE_RWKV7_POST_LAYER, rwkv7_weights());
}

}  // namespace
}  // namespace support
