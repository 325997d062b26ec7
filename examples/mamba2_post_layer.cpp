// A Mamba-2 layer with PoST: projections, short convolution, SSD, gated norm; whole or streamed.
// SPDX-License-Identifier: MIT
#include <wane/spectra/rates/post_initial.hpp>
#include <wane/spectra/rates/taper.hpp>

#include "layer_program.hpp"

namespace layers {

// PoST (arXiv 2604.07658), Algorithm 2, on Mamba-2 (Dao and Gu 2024). u and o are [B T, width].
template <class T>
struct mamba2_post_layer {
  static constexpr index width = 128, heads = 8, per_head = 32, states = 64, taps = 4;
  static constexpr index inner = heads * per_head, convolved = inner + 2 * states;
  static constexpr index trained_at = 2048;

  struct weights {
    // in_projection makes z, x, B, C and dt, in this order; decay is theta and delta of PoST's map.
    matrix<T> in_projection, convolution, convolution_bias, decay, dt_bias, D, norm, out_projection;

    explicit weights(unsigned seed) {
      initial_weights start{std::mt19937(seed)};
      in_projection = start.linear<T>(inner + convolved + heads, width);
      convolution = start.linear<T>(convolved, taps);
      convolution_bias = start.random<T>(1, convolved, 0.1);
      decay = parameters<T>(wane::spectra::mamba2_log_rates(heads, trained_at));
      double const bias = wane::spectra::inverse_softplus(wane::spectra::mamba2_dt);
      dt_bias = row_of<T>(std::vector<double>(heads, bias));
      D = matrix<T>::Ones(1, heads);
      norm = matrix<T>::Ones(1, inner);
      out_projection = start.linear<T>(width, inner);
    }
    void each(auto const& visit) {
      visit("in_projection", in_projection), visit("convolution", convolution);
      visit("convolution_bias", convolution_bias), visit("decay", decay);
      visit("dt_bias", dt_bias), visit("D", D), visit("norm", norm);
      visit("out_projection", out_projection);
    }
  };

  // The state of a decoder: the memory with its positions, and the convolution's last inputs.
  struct state {
    wane::recurrent_state<T> memory;
    matrix<T> tail;

    explicit state(index batch)
        : memory(batch, heads, states, per_head),
          tail(matrix<T>::Zero(batch * (taps - 1), convolved)) {}
  };

  explicit mamba2_post_layer(weights const& of) : w(of) {
    std::vector<double> const p = log_rates(w.decay);  // lines 5 and 6
    for (double log_rate : p) A.push_back(static_cast<T>(-std::exp(log_rate)));
    taper = as<T>(wane::spectra::adaptive_taper(p, std::log(double{trained_at})).values());
  }

  // The next tokens of every sequence, from the carried state and into it.
  matrix<T> operator()(matrix<T> const& u, state& carried) const {
    index const batch = batch_of(u, width, carried.memory);
    matrix<T> const all = u * w.in_projection.transpose();
    matrix<T> const xBC = silu(
        causal_convolution<T>(all.middleCols(inner, convolved), w.convolution, carried.tail, batch)
            .rowwise() +
        w.convolution_bias.row(0));
    wane::mamba2<T> const memory({.x = in_heads(xBC.leftCols(inner), batch, heads),
                                  .dt = by_head(all.rightCols(heads), batch),
                                  .A = numbers(A),
                                  .B = in_heads(xBC.middleCols(inner, states), batch, 1),
                                  .C = in_heads(xBC.rightCols(states), batch, 1),
                                  .D = numbers(w.D),
                                  .dt_bias = numbers(w.dt_bias),
                                  .taper = numbers(taper)},
                                 {.dt_softplus = true});
    matrix<T> const y = remember(memory, carried.memory);
    // The paper's order; mamba-ssm by default normalises the gated y.
    return rms_norm<T>(y, 1, 1e-5).cwiseProduct(silu(all.leftCols(inner))) *
           w.norm.row(0).asDiagonal() * w.out_projection.transpose();
  }

 private:
  weights w;
  std::vector<T> A, taper;
};

}  // namespace layers

int main(int count, char** arguments) {
  return layers::program<layers::mamba2_post_layer>(count, arguments);
}
