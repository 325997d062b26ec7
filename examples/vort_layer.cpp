// A VORT layer: power-law retrieval beside local attention, orders learnt; whole or streamed.
// SPDX-License-Identifier: MIT
#include <wane/spectra/orders/order_weights.hpp>

#include "layer_program.hpp"

namespace layers {

// arXiv 2605.08966, equations (11) and (14) to (17), with one set of rates for all orders in place
// of banks, features elu + 1, and no entity indicator. x and y are [B T, width].
template <class T>
struct vort_layer {
  static constexpr index width = 128, heads = 4, per_key = 16, per_value = 32, window = 16;
  static constexpr index keys = heads * per_key, values = heads * per_value;
  static constexpr index nodes = 12, trained_at = 2048;

  struct weights {
    // order, [heads, width + 2], and order_bias make the orders; its last column is idle.
    matrix<T> query, key, value, order, order_bias, output;

    explicit weights(unsigned seed) {
      initial_weights start{std::mt19937(seed)};
      query = start.linear<T>(keys, width), key = start.linear<T>(keys, width);
      value = start.linear<T>(values, width);
      order = start.linear<T>(heads, width + 2), order_bias = matrix<T>::Zero(1, heads);
      output = start.linear<T>(width, values);
    }
    void each(auto const& visit) {
      visit("query", query), visit("key", key), visit("value", value);
      visit("order", order), visit("order_bias", order_bias), visit("output", output);
    }
  };

  // What a decoder carries: the last tokens, with the positions that say which they are, and what
  // is left of all before.
  struct state {
    wane::recurrent_state<T> memory, faded;

    explicit state(index batch)
        : memory(batch, heads, window, per_key + per_value),
          faded(batch, heads, nodes * per_key, per_value + 1) {}
  };

  explicit vort_layer(weights const& of) : w(of) {}

  // The next tokens of every sequence, from the carried state and into it.
  matrix<T> operator()(matrix<T> const& x, state& carried) const {
    index const batch = batch_of(x, width, carried.memory), time = x.rows() / batch;
    matrix<T> const q = x * w.query.transpose(), k = x * w.key.transpose(),
                    v = x * w.value.transpose();
    wane::local_attention<T> const local({.query = in_heads(q, batch, heads),
                                          .key = in_heads(k, batch, heads),
                                          .value = in_heads(v, batch, heads)},
                                         {.window = window, .entropy = true});
    matrix<T> const attended = remember(local, carried.memory);  // an entropy behind each head

    constexpr index row = heads * (per_value + 1);
    matrix<T> alpha(x.rows(), heads);
    wane::order_map<T>({.x = {x.data(), batch, time, width},
                        .weight = {w.order.data(), heads, width + 2},
                        .bias = numbers(w.order_bias),
                        .entropy = {attended.data() + per_value,
                                    {batch, time, heads},
                                    {time * row, row, per_value + 1}}},
                       orders.table().least, by_head(alpha, batch));

    matrix<T> const of_query = features(q, batch), of_key = features(k, batch);
    wane::retrieval<T> const memory({.query = in_heads(of_query, batch, heads),
                                     .key = in_heads(of_key, batch, heads),
                                     .value = in_heads(v, batch, heads),
                                     .alpha = by_head(alpha, batch)},
                                    orders.table());
    matrix<T> y = remember(memory, carried.faded);
    for (index h = 0; h < heads; ++h)
      y.middleCols(h * per_value, per_value) += attended.middleCols(h * (per_value + 1), per_value);
    return y * w.output.transpose();
  }

 private:
  static matrix<T> features(matrix<T> const& x, index batch) {
    matrix<T> phi(x.rows(), x.cols());
    wane::elu_plus_one<T>(in_heads(x, batch, heads), in_heads(phi, batch, heads));
    return phi;
  }

  weights w;
  wane::spectra::order_weights<T> orders{wane::spectra::shared_rates(nodes, trained_at)};
};

}  // namespace layers

int main(int count, char** arguments) {
  return layers::program<layers::vort_layer>(count, arguments);
}
