// retnet_post_layer against PoST's Algorithm 4, and the norm and gate of Sun et al. 2023.
// SPDX-License-Identifier: MIT
#include "examples/layer_case.hpp"

namespace support {
namespace {

constexpr std::size_t width = 128, heads = 4, keys = 32, values = 64;

struct retnet_weights : weight_file {
  matrix query = linear(heads * keys, width), key = linear(heads * keys, width),
         value = linear(heads * values, width), gate = linear(heads * values, width),
         decay = spectrum(-7, 0, 4, heads), output = linear(width, heads*values);
};

struct retnet_sequence {
  retnet_weights const& w;
  row p = post_map(w.decay), alpha = post_taper(p);
  std::vector<naive_state<double>> memory{heads, {keys, values}};
  double t = 0;

  explicit retnet_sequence(retnet_weights const& of) : w(of) {}

  row operator()(row const& x) {
    ++t;
    row const q = w.query * x, k = w.key * x, v = w.value * x;
    row y;
    for (std::size_t h = 0; h < heads; ++h) {
      auto& S = memory[h];
      S.fade(row(keys, -std::exp(p[h]) * std::pow(t, -alpha[h])));
      S.write(part(k, h * keys, keys), part(v, h * values, values));
      // Queries are scaled by 1/sqrt(d), which Sun et al. do for precision: the norm undoes it.
      row const o = times(1 / std::sqrt(double{keys}), S.read(part(q, h * keys, keys)));
      append(y, centred_norm(o, 1e-5));
    }
    return w.output * product(y, mapped(w.gate * x, silu));
  }
};

TEST(RetnetPostLayer, IsAlgorithmFour) {
  expect_layer<retnet_sequence>(EXAMPLE_RETNET_POST_LAYER, retnet_weights());
}

}  // namespace
}  // namespace support
