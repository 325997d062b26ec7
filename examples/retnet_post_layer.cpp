// A RetNet layer with PoST: retention in heads, group norm and swish gate; whole or streamed.
// SPDX-License-Identifier: MIT
#include <wane/spectra/rates/post_initial.hpp>
#include <wane/spectra/rates/taper.hpp>

#include "layer_program.hpp"

namespace layers {

// Multi-scale retention (Sun et al. 2023, section 2.3) with the decays of PoST (arXiv 2604.07658),
// Algorithm 4, which has no rotation. x and y are [B T, width].
template <class T>
struct retnet_post_layer {
  static constexpr index width = 128, heads = 4, per_key = 32, per_value = 64;
  static constexpr index keys = heads * per_key, values = heads * per_value;
  static constexpr index trained_at = 2048;

  struct weights {
    matrix<T> query, key, value, gate, decay, output;  // decay: theta and delta of PoST's map

    explicit weights(unsigned seed) {
      initial_weights start{std::mt19937(seed)};
      query = start.linear<T>(keys, width), key = start.linear<T>(keys, width);
      value = start.linear<T>(values, width), gate = start.linear<T>(values, width);
      decay = parameters<T>(wane::spectra::retnet_log_rates(heads, trained_at));
      output = start.linear<T>(width, values);
    }
    void each(auto const& visit) {
      visit("query", query), visit("key", key), visit("value", value), visit("gate", gate);
      visit("decay", decay), visit("output", output);
    }
  };

  // The state of a decoder: the memory, which counts positions.
  struct state {
    wane::recurrent_state<T> memory;

    explicit state(index batch) : memory(batch, heads, per_key, per_value) {}
  };

  explicit retnet_post_layer(weights const& of) : w(of) {
    std::vector<double> const p = log_rates(w.decay);
    log_rate = as<T>(p);
    taper = as<T>(wane::spectra::adaptive_taper(p, std::log(double{trained_at})).values());
  }

  // The next tokens of every sequence, from the carried state and into it.
  matrix<T> operator()(matrix<T> const& x, state& carried) const {
    index const batch = batch_of(x, width, carried.memory);
    matrix<T> const q = x * w.query.transpose(), k = x * w.key.transpose();
    matrix<T> const v = x * w.value.transpose();
    wane::retnet const memory({.query = in_heads(q, batch, heads),
                               .key = in_heads(k, batch, heads),
                               .value = in_heads(v, batch, heads)},
                              wane::constant_rate_gate<T>(numbers(log_rate), {numbers(taper)}));
    matrix<T> const y = group_norm(remember(memory, carried.memory), heads, 1e-5);
    return y.cwiseProduct(silu(x * w.gate.transpose())) * w.output.transpose();
  }

 private:
  weights w;
  std::vector<T> log_rate, taper;
};

}  // namespace layers

int main(int count, char** arguments) {
  return layers::program<layers::retnet_post_layer>(count, arguments);
}
