// A Gated DeltaNet layer of a checkpoint: flash-linear-attention's weights by name, of any size.
// SPDX-License-Identifier: MIT
#include "checkpoint_program.hpp"

namespace layers {

// The extents that the tensors of a layer share.
struct delta_sizes {
  index width = 96, heads = 3, keys = 48, values = 96, taps = 4;
};

// fla's GatedDeltaNet (Yang, Kautz, Hatamizadeh 2025) under its own names, without PoST. x and y
// are [B T, width].
template <class T>
struct gated_delta_net_checkpoint {
  delta_sizes size;
  matrix<T> q, k, v, a, b, g, o, q_taps, k_taps, v_taps, A_log, dt_bias, norm;

  void each(auto const& visit) {
    auto const [width, heads, keys, values, taps] = size;
    visit("q_proj.weight", shape{keys, width}, q);
    visit("k_proj.weight", shape{keys, width}, k);
    visit("v_proj.weight", shape{values, width}, v);
    visit("a_proj.weight", shape{heads, width}, a);
    visit("b_proj.weight", shape{heads, width}, b);
    visit("A_log", shape{heads}, A_log);
    visit("dt_bias", shape{heads}, dt_bias);
    visit("q_conv1d.weight", shape{keys, 1, taps}, q_taps);
    visit("k_conv1d.weight", shape{keys, 1, taps}, k_taps);
    visit("v_conv1d.weight", shape{values, 1, taps}, v_taps);
    visit("g_proj.weight", shape{values, width}, g);
    visit("o_norm.weight", shape{values / heads}, norm);
    visit("o_proj.weight", shape{width, values}, o);
  }
  static std::string prefix_of(std::string const& layer) {
    return "model.layers." + layer + ".attn.";
  }
  static delta_sizes sizes_in(wane::safetensors const& file, std::string const& prefix) {
    auto const extent = [&](char const* name, std::size_t which) {
      return extent_of(file, prefix + name, which);
    };
    delta_sizes const found{
        .width = extent("q_proj.weight", 1),
        .heads = extent("A_log", 0),
        .keys = extent("q_proj.weight", 0),
        .values = extent("v_proj.weight", 0),
        .taps = extent("q_conv1d.weight", 2),
    };
    wane::require(found.keys % found.heads == 0 && found.values % found.heads == 0, prefix,
                  "A_log has ", found.heads, " heads; they must divide ", found.keys, " keys and ",
                  found.values, " values");
    wane::require(file.find(prefix + "q_conv1d.bias") == nullptr, prefix,
                  "q_conv1d.bias is there; the convolutions must have no bias");
    return found;
  }

  // The state of a decoder: the memory, and the last inputs of the convolutions.
  struct state {
    wane::recurrent_state<T> memory;
    matrix<T> q_tail, k_tail, v_tail;
  };
  state start(index batch) const {
    auto const [width, heads, keys, values, taps] = size;
    matrix<T> const of_keys = matrix<T>::Zero(batch * (taps - 1), keys);
    return {.memory = {batch, heads, keys / heads, values / heads},
            .q_tail = of_keys,
            .k_tail = of_keys,
            .v_tail = matrix<T>::Zero(batch * (taps - 1), values)};
  }

  // The next tokens of every sequence, from the carried state and into it.
  matrix<T> operator()(matrix<T> const& x, state& carried) const {
    index const batch = batch_of(x, size.width, carried.memory), heads = size.heads;
    auto const convolved = [&](matrix<T> const& weight, matrix<T> const& taps, matrix<T>& tail) {
      matrix<T> const projected = x * weight.transpose();
      return matrix<T>(silu(causal_convolution<T>(projected, taps, tail, batch)));
    };
    matrix<T> const queries = convolved(q, q_taps, carried.q_tail);
    matrix<T> const keys = convolved(k, k_taps, carried.k_tail);
    matrix<T> const values = convolved(v, v_taps, carried.v_tail);
    matrix<T> const beta = sigmoid(x * b.transpose()), step = x * a.transpose();
    wane::gated_delta_net const memory(
        {.query = in_heads(queries, batch, heads),
         .key = in_heads(keys, batch, heads),
         .value = in_heads(values, batch, heads),
         .strength = by_head(beta, batch)},
        wane::softplus_gate(by_head(step, batch),
                            {.log_rate = numbers(A_log), .bias = numbers(dt_bias)}),
        {.normalise = true});
    matrix<T> const y = rms_norm(remember(memory, carried.memory), heads, 1e-6);
    matrix<T> const scale = norm.replicate(1, heads);
    return (y * scale.row(0).asDiagonal()).cwiseProduct(silu(x * g.transpose())) * o.transpose();
  }
};

}  // namespace layers

int main(int count, char** arguments) {
  return layers::checkpoint_program<layers::gated_delta_net_checkpoint>(count, arguments);
}
