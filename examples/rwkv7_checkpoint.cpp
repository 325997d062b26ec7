// An RWKV-7 layer of a checkpoint: flash-linear-attention's weights by name, of any size.
// SPDX-License-Identifier: MIT
#include "checkpoint_program.hpp"

namespace layers {

// The extents that the tensors of a layer share. Keys are as wide as the input. The ranks are those
// of decay, rate, gate and values; of_values is 0 in the first layer of a model.
struct rwkv7_sizes {
  index width = 96, heads = 3, values = 96;
  index of_decay = 16, of_rate = 16, of_gate = 32, of_values = 0;
};

// fla's RWKV7Attention (Peng et al. 2025: time mixing) under its own names, without PoST. x and y
// are [B T, width].
template <class T>
struct rwkv7_checkpoint {
  rwkv7_sizes size;
  matrix<T> x_r, x_w, x_k, x_v, x_a, x_g, k_k, k_a, r_k, r, k, v, o, norm, norm_bias;
  matrix<T> w_down, w_up, w_bias, a_down, a_up, a_bias, g_down, g_up, v_down, v_up, v_bias;

  void each(auto const& visit) {
    auto const [width, heads, values, of_decay, of_rate, of_gate, of_values] = size;
    shape const mixed{1, 1, width};
    visit("x_r", mixed, x_r), visit("x_w", mixed, x_w), visit("x_k", mixed, x_k);
    visit("x_v", mixed, x_v), visit("x_a", mixed, x_a), visit("x_g", mixed, x_g);
    visit("k_k", shape{width}, k_k);
    visit("k_a", shape{width}, k_a);
    visit("r_k", shape{heads, width / heads}, r_k);
    visit("r_proj.weight", shape{width, width}, r);
    visit("k_proj.weight", shape{width, width}, k);
    visit("v_proj.weight", shape{values, width}, v);
    visit("o_proj.weight", shape{width, values}, o);
    visit("w_lora.lora.0.weight", shape{of_decay, width}, w_down);
    visit("w_lora.lora.2.weight", shape{width, of_decay}, w_up);
    visit("w_lora.lora.2.bias", shape{width}, w_bias);
    visit("a_lora.lora.0.weight", shape{of_rate, width}, a_down);
    visit("a_lora.lora.2.weight", shape{width, of_rate}, a_up);
    visit("a_lora.lora.2.bias", shape{width}, a_bias);
    visit("g_lora.lora.0.weight", shape{of_gate, width}, g_down);
    visit("g_lora.lora.2.weight", shape{values, of_gate}, g_up);
    visit("g_norm.weight", shape{values}, norm);
    visit("g_norm.bias", shape{values}, norm_bias);
    if (of_values == 0) return;
    visit("v_lora.lora.0.weight", shape{of_values, width}, v_down);
    visit("v_lora.lora.2.weight", shape{values, of_values}, v_up);
    visit("v_lora.lora.2.bias", shape{values}, v_bias);
  }
  static std::string prefix_of(std::string const& layer) {
    return "model.layers." + layer + ".attn.";
  }
  static rwkv7_sizes sizes_in(wane::safetensors const& file, std::string const& prefix) {
    auto const extent = [&](char const* name, std::size_t which) {
      return extent_of(file, prefix + name, which);
    };
    bool const later = file.find(prefix + "v_lora.lora.0.weight") != nullptr;
    rwkv7_sizes const found{
        .width = extent("r_proj.weight", 1),
        .heads = extent("r_k", 0),
        .values = extent("v_proj.weight", 0),
        .of_decay = extent("w_lora.lora.0.weight", 0),
        .of_rate = extent("a_lora.lora.0.weight", 0),
        .of_gate = extent("g_lora.lora.0.weight", 0),
        .of_values = later ? extent("v_lora.lora.0.weight", 0) : 0,
    };
    wane::require(found.width % found.heads == 0 && found.values % found.heads == 0, prefix,
                  "r_k has ", found.heads, " heads; they must divide ", found.width, " keys and ",
                  found.values, " values");
    wane::require(found.values % found.width == 0, prefix, "v_proj.weight makes ", found.values,
                  " values; they must be a multiple of ", found.width, ", the width");
    return found;
  }

  // The state of a decoder: the memory, and the token before.
  struct state {
    wane::recurrent_state<T> memory;
    matrix<T> last;
  };
  state start(index batch) const {
    auto const [width, heads, values, of_decay, of_rate, of_gate, of_values] = size;
    return {.memory = {batch, heads, width / heads, values / heads},
            .last = matrix<T>::Zero(batch, width)};
  }

  // The next tokens of every sequence, from the carried state and into it. `first` is the values
  // that the first layer of the model made of the same tokens, [B T, values]: the first layer
  // writes them, later layers mix them into their own.
  matrix<T> operator()(matrix<T> const& x, state& carried, matrix<T>& first) const {
    index const batch = batch_of(x, size.width, carried.memory), heads = size.heads;
    index const per_head = size.width / heads, per_value = size.values / heads;
    matrix<T> const change = before(x, carried.last, batch) - x;
    auto const shifted = [&](matrix<T> const& share) -> matrix<T> {
      return x + change * share.row(0).asDiagonal();
    };
    auto const plus = [](matrix<T> const& y, matrix<T> const& bias) -> matrix<T> {
      return y.rowwise() + bias.row(0);
    };
    matrix<T> const queries = shifted(x_r) * r.transpose(), mixed_v = shifted(x_v);
    matrix<T> keys = shifted(x_k) * k.transpose(), values = mixed_v * v.transpose();
    if (size.of_values == 0) first = values;
    wane::require(first.rows() == x.rows() && first.cols() == size.values, "first has shape [",
                  first.rows(), ", ", first.cols(), "]; it must be [", x.rows(), ", ", size.values,
                  "]");
    if (size.of_values > 0)
      values +=
          (first - values)
              .cwiseProduct(sigmoid(plus(mixed_v * v_down.transpose() * v_up.transpose(), v_bias)));
    matrix<T> const low = (shifted(x_w) * w_down.transpose()).array().tanh();
    matrix<T> const decay = low * w_up.transpose();
    matrix<T> const rate =
        sigmoid(plus(shifted(x_a) * a_down.transpose() * a_up.transpose(), a_bias));
    matrix<T> const gate = sigmoid(shifted(x_g) * g_down.transpose()) * g_up.transpose();
    matrix<T> const removal = keys * k_k.row(0).asDiagonal();
    keys += keys.cwiseProduct((rate.array() - 1).matrix() * k_a.row(0).asDiagonal());
    wane::rwkv7 const memory(
        {.query = in_heads(queries, batch, heads),
         .key = in_heads(keys, batch, heads),
         .value = in_heads(values, batch, heads),
         .removal = in_heads(removal, batch, heads),
         .rate = in_heads(rate, batch, heads)},
        wane::sigmoid_gate(in_heads(decay, batch, heads),
                           {.bias = wane::view<T const, 2>(w_bias.data(), heads, per_head)}),
        {.normalise = true, .epsilon = 1e-6});
    double const epsilon = 1e-5 * static_cast<double>(per_head);
    matrix<T> y = plus(
        group_norm(remember(memory, carried.memory), heads, epsilon) * norm.row(0).asDiagonal(),
        norm_bias);
    // The bonus comes behind the norm; the operator's own bonus would come before it.
    for (index h = 0; h < heads; ++h)
      y.middleCols(h * per_value, per_value) +=
          (queries.cwiseProduct(keys).middleCols(h * per_head, per_head) * r_k.row(h).transpose())
              .asDiagonal() *
          values.middleCols(h * per_value, per_value);
    return y.cwiseProduct(gate) * o.transpose();
  }

  // The layer by itself, for the check of the program: a later layer has its input in place of the
  // values of the first.
  matrix<T> operator()(matrix<T> const& x, state& carried) const {
    matrix<T> first = x.replicate(1, size.values / size.width);
    return (*this)(x, carried, first);
  }
};

}  // namespace layers

int main(int count, char** arguments) {
  return layers::checkpoint_program<layers::rwkv7_checkpoint>(count, arguments);
}
