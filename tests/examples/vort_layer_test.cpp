// vort_layer against VORT, arXiv 2605.08966: each sum written over all tokens, with no state.
// SPDX-License-Identifier: MIT
#include "examples/layer_case.hpp"
#include "wane/spectra/orders/order_weights.hpp"

namespace support {
namespace {

constexpr std::size_t width = 128, heads = 4, per_key = 16, per_value = 32, window = 16;
constexpr std::size_t keys = heads * per_key, values = heads * per_value, nodes = 12;
constexpr double least = 0.1;

struct vort_weights : weight_file {
  matrix query = linear(keys, width), key = linear(keys, width), value = linear(values, width),
         order = linear(heads, width + 2), order_bias = between(-1, 1, 1, heads),
         output = linear(width, values);
  // The sum of exponentials for (1) is wane's own; the paper has a bank for each order.
  wane::spectra::order_weights<double> memory{
      wane::spectra::shared_rates(static_cast<index>(nodes), static_cast<index>(trained_at))};
};

// Elu + 1.
row feature(row const& x) {
  return mapped(x, [](double z) { return z > 0 ? z + 1 : std::exp(z); });
}

struct vort_sequence {
  struct token {
    row key, value;
    double alpha;
  };
  vort_weights const& w;
  std::vector<token> seen[heads];

  explicit vort_sequence(vort_weights const& of) : w(of) {}

  // w_l(alpha), by (7).
  double weight(double alpha, std::size_t lag) const {
    auto const table = w.memory.table();
    auto const order = table.at(alpha);
    double total = lag == 0 ? order.weight(static_cast<index>(nodes)) : 0;
    for (index s = 0; s < static_cast<index>(nodes); ++s)
      total += order.weight(s) * std::exp(static_cast<double>(lag) * table.log_decay(0, 0, 0, s));
    return total;
  }
  row operator()(row const& x) {
    row const q = w.query * x, k = w.key * x, v = w.value * x, logits = w.order * x_and_nothing(x);
    row y;
    for (std::size_t h = 0; h < heads; ++h) {
      auto& tokens = seen[h];
      row const query = part(q, h * per_key, per_key);
      tokens.push_back({part(k, h * per_key, per_key), part(v, h * per_value, per_value), 0});
      row local(per_value), n(per_value);
      // The last tokens: a softmax, and its entropy in nats.
      std::size_t const last = tokens.size(), first = last > window ? last - window : 0;
      row p;
      double total = 0, entropy = 0, d = 0;
      for (std::size_t i = first; i < last; ++i) {
        p.push_back(std::exp(dot(query, tokens[i].key) / std::sqrt(double{per_key})));
        total += p.back();
      }
      for (std::size_t i = first; i < last; ++i) {
        double const a = p[i - first] / total;
        local = sum(local, times(a, tokens[i].value)), entropy -= a * std::log(a);
      }
      double const z = logits[h] + w.order[h][width] * entropy + w.order_bias.values[h];  // (11)
      tokens.back().alpha = least + (1 - least) * sigmoid(z);
      // All of them: (14) to (16).
      for (std::size_t i = 0; i < last; ++i) {
        double const a =
            dot(feature(query), feature(tokens[i].key)) * weight(tokens[i].alpha, last - 1 - i);
        n = sum(n, times(a, tokens[i].value)), d += a;
      }
      append(y, sum(times(1 / d, n), local));  // (17)
    }
    return w.output * y;
  }
  // [x; 0; 0]: the entropy is known later, and no token is marked as an entity.
  static row x_and_nothing(row x) {
    x.resize(width + 2);
    return x;
  }
};

TEST(VortLayer, IsRetrievalBesideLocalAttention) {
  expect_layer<vort_sequence>(EXAMPLE_VORT_LAYER, vort_weights());
}

}  // namespace
}  // namespace support
