// A Gated DeltaNet layer with PoST: short convolutions, delta rule, gated norm; whole or streamed.
// SPDX-License-Identifier: MIT
#include <wane/spectra/rates/post_initial.hpp>
#include <wane/spectra/rates/taper.hpp>

#include "layer_program.hpp"

namespace layers {

// Yang, Kautz, Hatamizadeh 2025, as in flash-linear-attention, with the ordered and tapered decays
// of PoST (arXiv 2604.07658), section 5.4. x and y are [B T, width].
template <class T>
struct gated_delta_net_layer {
  static constexpr index width = 128, heads = 4, per_key = 32, per_value = 64, taps = 4;
  static constexpr index keys = heads * per_key, values = heads * per_value;
  static constexpr index convolved = 2 * keys + values, trained_at = 2048;

  struct weights {
    // in_projection and convolution have the rows of q, k and v, one below the other; strength
    // makes beta, step with step_bias (dt_bias) the softplus of the decay, whose A_log is PoST's
    // map of decay: theta and delta.
    matrix<T> in_projection, convolution, strength, step, step_bias, decay, gate, norm, output;

    explicit weights(unsigned seed) {
      initial_weights start{std::mt19937(seed)};
      in_projection = start.linear<T>(convolved, width);
      convolution = start.linear<T>(convolved, taps);
      strength = start.linear<T>(heads, width), step = start.linear<T>(heads, width);
      // With these a decay is 1/T a step in the slowest head, and 1 in the fastest.
      double const bias = wane::spectra::inverse_softplus(1. / trained_at);
      step_bias = row_of<T>(std::vector<double>(heads, bias));
      decay = parameters<T>(wane::spectra::gated_delta_net_log_rates(heads, trained_at));
      gate = start.linear<T>(values, width);
      norm = matrix<T>::Ones(1, per_value);
      output = start.linear<T>(width, values);
    }
    void each(auto const& visit) {
      visit("in_projection", in_projection), visit("convolution", convolution);
      visit("strength", strength), visit("step", step), visit("step_bias", step_bias);
      visit("decay", decay), visit("gate", gate), visit("norm", norm), visit("output", output);
    }
  };

  // The state of a decoder: the memory with its positions, and the convolution's last inputs.
  struct state {
    wane::recurrent_state<T> memory;
    matrix<T> tail;

    explicit state(index batch)
        : memory(batch, heads, per_key, per_value),
          tail(matrix<T>::Zero(batch * (taps - 1), convolved)) {}
  };

  explicit gated_delta_net_layer(weights const& of) : w(of) {
    std::vector<double> const p = log_rates(w.decay);
    A_log = as<T>(p);
    taper = as<T>(wane::spectra::adaptive_taper(p, std::log(double{trained_at})).values());
  }

  // The next tokens of every sequence, from the carried state and into it.
  matrix<T> operator()(matrix<T> const& x, state& carried) const {
    index const batch = batch_of(x, width, carried.memory);
    matrix<T> const projected = x * w.in_projection.transpose();
    matrix<T> const qkv =
        silu(causal_convolution<T>(projected, w.convolution, carried.tail, batch));
    matrix<T> const beta = sigmoid(x * w.strength.transpose());
    matrix<T> const step = x * w.step.transpose();
    wane::gated_delta_net const memory(
        {.query = in_heads(qkv.leftCols(keys), batch, heads),
         .key = in_heads(qkv.middleCols(keys, keys), batch, heads),
         .value = in_heads(qkv.rightCols(values), batch, heads),
         .strength = by_head(beta, batch)},
        wane::softplus_gate(
            by_head(step, batch),
            {.log_rate = numbers(A_log), .bias = numbers(w.step_bias), .taper = {numbers(taper)}}),
        {.normalise = true});
    matrix<T> const y = rms_norm(remember(memory, carried.memory), heads, 1e-5);
    matrix<T> const norm = w.norm.replicate(1, heads);
    return (y * norm.row(0).asDiagonal()).cwiseProduct(silu(x * w.gate.transpose())) *
           w.output.transpose();
  }

 private:
  weights w;
  std::vector<T> A_log, taper;
};

}  // namespace layers

int main(int count, char** arguments) {
  return layers::program<layers::gated_delta_net_layer>(count, arguments);
}
