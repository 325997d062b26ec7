// A Mamba-2 layer of a checkpoint: transformers' weights by name, of any size.
// SPDX-License-Identifier: MIT
#include "checkpoint_program.hpp"

namespace layers {

// The extents that the tensors of a layer share; `inner` is the channels of all heads.
struct mamba2_sizes {
  index width = 48, heads = 6, inner = 96, states = 16, taps = 4;
};

// transformers' Mamba2Mixer (Dao and Gu 2024) under its own names, with one group of B and C and
// without PoST. u and o are [B T, width].
template <class T>
struct mamba2_checkpoint {
  mamba2_sizes size;
  matrix<T> in, convolution, convolution_bias, A_log, dt_bias, D, norm, out;

  void each(auto const& visit) {
    auto const [width, heads, inner, states, taps] = size;
    index const convolved = inner + 2 * states;
    visit("in_proj.weight", shape{inner + convolved + heads, width}, in);  // z, x, B, C and dt
    visit("conv1d.weight", shape{convolved, 1, taps}, convolution);
    visit("conv1d.bias", shape{convolved}, convolution_bias);
    visit("A_log", shape{heads}, A_log);
    visit("dt_bias", shape{heads}, dt_bias);
    visit("D", shape{heads}, D);
    visit("norm.weight", shape{inner}, norm);
    visit("out_proj.weight", shape{width, inner}, out);
  }
  static std::string prefix_of(std::string const& layer) {
    return "backbone.layers." + layer + ".mixer.";
  }
  static mamba2_sizes sizes_in(wane::safetensors const& file, std::string const& prefix) {
    auto const extent = [&](char const* name, std::size_t which) {
      return extent_of(file, prefix + name, which);
    };
    index const inner = extent("out_proj.weight", 1);
    index const of_both = extent("conv1d.weight", 0) - inner;  // B and C
    mamba2_sizes const found{
        .width = extent("out_proj.weight", 0),
        .heads = extent("A_log", 0),
        .inner = inner,
        .states = of_both / 2,
        .taps = extent("conv1d.weight", 2),
    };
    wane::require(inner % found.heads == 0, prefix, "A_log has ", found.heads,
                  " heads; they must divide ", inner, " channels");
    wane::require(of_both > 0 && of_both % 2 == 0, prefix, "conv1d.weight leaves ", of_both,
                  " channels to B and C; they must share them");
    wane::require(file.find(prefix + "in_proj.bias") == nullptr, prefix,
                  "in_proj.bias is there; the projections must have no bias");
    return found;
  }

  // The state of a decoder: the memory, and the convolution's last inputs.
  struct state {
    wane::recurrent_state<T> memory;
    matrix<T> tail;
  };
  state start(index batch) const {
    auto const [width, heads, inner, states, taps] = size;
    return {.memory = {batch, heads, states, inner / heads},
            .tail = matrix<T>::Zero(batch * (taps - 1), inner + 2 * states)};
  }

  // The next tokens of every sequence, from the carried state and into it.
  matrix<T> operator()(matrix<T> const& u, state& carried) const {
    index const batch = batch_of(u, size.width, carried.memory), heads = size.heads;
    index const inner = size.inner, states = size.states;
    matrix<T> const all = u * in.transpose(), A = -A_log.array().exp().matrix();
    matrix<T> const xBC = silu(causal_convolution<T>(all.middleCols(inner, inner + 2 * states),
                                                     convolution, carried.tail, batch)
                                   .rowwise() +
                               convolution_bias.row(0));
    wane::mamba2<T> const memory({.x = in_heads(xBC.leftCols(inner), batch, heads),
                                  .dt = by_head(all.rightCols(heads), batch),
                                  .A = numbers(A),
                                  .B = in_heads(xBC.middleCols(inner, states), batch, 1),
                                  .C = in_heads(xBC.rightCols(states), batch, 1),
                                  .D = numbers(D),
                                  .dt_bias = numbers(dt_bias)},
                                 {.dt_softplus = true});
    matrix<T> const y = remember(memory, carried.memory);
    return rms_norm<T>(y.cwiseProduct(silu(all.leftCols(inner))), 1, 1e-5) *
           norm.row(0).asDiagonal() * out.transpose();
  }
};

}  // namespace layers

int main(int count, char** arguments) {
  return layers::checkpoint_program<layers::mamba2_checkpoint>(count, arguments);
}
