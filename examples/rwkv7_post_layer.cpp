// RWKV-7's time mixing with PoST: token shift, low-rank maps, bonus and gate; whole or streamed.
// SPDX-License-Identifier: MIT
#include <wane/spectra/rates/post_initial.hpp>

#include "layer_program.hpp"

namespace layers {

// PoST (arXiv 2604.07658), Algorithm 3, on RWKV-7 (Peng et al. 2025), as its first layer, whose
// values are its own. x and y are [B T, width].
template <class T>
struct rwkv7_post_layer {
  static constexpr index width = 128, heads = 4, per_head = width / heads;
  static constexpr index low_rank = 16, gate_rank = 32, trained_at = 2048;

  // The share of the previous token in the inputs of r, w, k, v, a and g: rows of mix.
  enum mixed { of_r, of_w, of_k, of_v, of_a, of_g };

  struct weights {
    // decay is theta and delta of PoST's map, which makes w0. Then x_r to x_g, w1 and w2 (down and
    // up, as [out, in]), a1, a2 and a0, g1 and g2, k_k, k_a, r_k and ln_x of RWKV's own code.
    matrix<T> decay, mix, receptance, key, value, output, decay_down, decay_up, decay_bias;
    matrix<T> rate_down, rate_up, rate_bias, gate_down, gate_up;
    matrix<T> removal_scale, key_rate, bonus, norm, norm_bias;

    explicit weights(unsigned seed) {
      initial_weights start{std::mt19937(seed)};
      decay = parameters<T>(wane::spectra::rwkv7_logits(width, trained_at));
      mix = start.random<T>(6, width, 0.1).array() + T(0.5);
      receptance = start.linear<T>(width, width), key = start.linear<T>(width, width);
      value = start.linear<T>(width, width), output = start.linear<T>(width, width);
      decay_down = start.linear<T>(low_rank, width), decay_up = start.linear<T>(width, low_rank);
      decay_bias = row_of<T>(wane::spectra::rwkv7_zigzag(width, per_head));
      rate_down = start.linear<T>(low_rank, width), rate_up = start.linear<T>(width, low_rank);
      rate_bias = matrix<T>::Zero(1, width);
      gate_down = start.linear<T>(gate_rank, width), gate_up = start.linear<T>(width, gate_rank);
      removal_scale = matrix<T>::Constant(1, width, T(0.875));
      key_rate = norm = matrix<T>::Ones(1, width), norm_bias = matrix<T>::Zero(1, width);
      bonus = start.random<T>(1, width, 0.1);
    }
    void each(auto const& visit) {
      visit("decay", decay), visit("mix", mix), visit("receptance", receptance);
      visit("key", key), visit("value", value), visit("output", output);
      visit("decay_down", decay_down), visit("decay_up", decay_up);
      visit("decay_bias", decay_bias), visit("rate_down", rate_down);
      visit("rate_up", rate_up), visit("rate_bias", rate_bias);
      visit("gate_down", gate_down), visit("gate_up", gate_up);
      visit("removal_scale", removal_scale), visit("key_rate", key_rate);
      visit("bonus", bonus), visit("norm", norm), visit("norm_bias", norm_bias);
    }
  };

  // The state of a decoder: the memory with its positions, and the token before.
  struct state {
    wane::recurrent_state<T> memory;
    matrix<T> last;

    explicit state(index batch)
        : memory(batch, heads, per_head, per_head), last(matrix<T>::Zero(batch, width)) {}
  };

  explicit rwkv7_post_layer(weights const& of) : w(of) {
    std::vector<double> const logits = log_rates(w.decay);  // lines 5 and 6
    w0 = as<T>(logits);
    taper = as<T>(wane::spectra::rwkv7_taper(logits, trained_at));
  }

  // The next tokens of every sequence, from the carried state and into it.
  matrix<T> operator()(matrix<T> const& x, state& carried) const {
    index const batch = batch_of(x, width, carried.memory);
    matrix<T> const change = before(x, carried.last, batch) - x;
    auto const shifted = [&](mixed n) -> matrix<T> {
      return x + change * w.mix.row(n).asDiagonal();
    };
    matrix<T> const r = shifted(of_r) * w.receptance.transpose();
    matrix<T> const v = shifted(of_v) * w.value.transpose();
    matrix<T> const low = (shifted(of_w) * w.decay_down.transpose()).array().tanh();
    matrix<T> const logit = (low * w.decay_up.transpose()).rowwise() + w.decay_bias.row(0);
    matrix<T> const rate =
        sigmoid((shifted(of_a) * w.rate_down.transpose() * w.rate_up.transpose()).rowwise() +
                w.rate_bias.row(0));
    matrix<T> const gate = sigmoid(shifted(of_g) * w.gate_down.transpose()) * w.gate_up.transpose();
    matrix<T> k = shifted(of_k) * w.key.transpose();
    matrix<T> const removal = k * w.removal_scale.row(0).asDiagonal();
    k += k.cwiseProduct((rate.array() - 1).matrix() * w.key_rate.row(0).asDiagonal());

    wane::rwkv7 const memory({.query = in_heads(r, batch, heads),
                              .key = in_heads(k, batch, heads),
                              .value = in_heads(v, batch, heads),
                              .removal = in_heads(removal, batch, heads),
                              .rate = in_heads(rate, batch, heads)},
                             wane::sigmoid_gate(in_heads(logit, batch, heads),
                                                {.bias = by_row(w0), .taper = {by_row(taper)}}),
                             {.normalise = true, .epsilon = 1e-12});
    matrix<T> y =
        group_norm(remember(memory, carried.memory), heads, 64e-5) * w.norm.row(0).asDiagonal();
    y.rowwise() += w.norm_bias.row(0);
    // The bonus comes behind the norm; the operator's own bonus would come before it.
    matrix<T> const weighed = r.cwiseProduct(k) * w.bonus.row(0).asDiagonal();
    for (index c = 0; c < width; c += per_head)
      y.middleCols(c, per_head) +=
          weighed.middleCols(c, per_head).rowwise().sum().asDiagonal() * v.middleCols(c, per_head);
    return y.cwiseProduct(gate) * w.output.transpose();
  }

 private:
  static wane::view<T const, 2> by_row(std::vector<T> const& x) {
    return {x.data(), heads, per_head};
  }

  weights w;
  std::vector<T> w0, taper;
};

}  // namespace layers

int main(int count, char** arguments) {
  return layers::program<layers::rwkv7_post_layer>(count, arguments);
}
