// Encoder and decoder blocks of STLT: two-sided and causal relevance, and that between sequences.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <numbers>
#include <wane/spectra/nodes/laplace_nodes.hpp>

#include "layer_parts.hpp"

namespace layers {

// "Adaptive Two-Sided Laplace Transforms", Figure 1: LN(X + STLT(X)), then LN(FFN(.)) with FFN(Y) =
// Y + W2 GELU(W1 Y); a decoder block looks back only, and then at the encoder. Values are W X,
// which the figure leaves open. x is [B T, width], the T tokens of a sequence one below the other.
constexpr index width = 32, heads = 2, nodes = 6, inner = 4 * width;
using activations = matrix<double>;

enum class sides { past, both };

// L of all tokens, [B T, heads 2 S (width / heads)]: nodes with half-lives of one token to 200,
// through Hann's window.
class transform {
 public:
  transform() {
    auto const start = wane::spectra::initial_laplace_nodes(
        nodes, std::numbers::ln2 / 200, std::numbers::ln2, std::numbers::pi / 2);
    for (index h = 0; h < heads; ++h)
      for (std::size_t k = 0; k < nodes; ++k)
        sigma.push_back(start.sigma[k]), omega.push_back(start.omega[k]);
  }

  activations operator()(activations const& x, index batch, sides seen) const {
    using operation = wane::laplace<double, wane::spectra::window_shape::hann>;
    operation const op({.value = in_heads(x, batch, heads)},
                       {.sigma = {sigma.data(), heads, nodes},
                        .omega = {omega.data(), heads, nodes},
                        .read_out = {read_out.data(), heads, nodes, 1},
                        .width = {window.data(), heads}});
    wane::laplace_coefficients<operation> const of_nodes(op);
    activations found(x.rows(), heads * of_nodes.output_columns());
    auto const output = in_heads(found, batch, heads);
    seen == sides::both ? wane::run_two_sided(of_nodes, output) : wane::run(of_nodes, output);
    return found;
  }

 private:
  std::vector<double> sigma, omega, window = std::vector<double>(heads, 48.5);
  std::vector<std::complex<double>> read_out = std::vector<std::complex<double>>(heads * nodes, 1.);
};

// softmax(Re L conj(L') / sqrt(S)) V: exact, O(T^2) in time and O(T) in memory.
activations attend(activations const& of_query, activations const& of_key, activations const& value,
                   index batch, sides seen) {
  activations z(of_query.rows(), value.cols());
  wane::softmax_attention<double> const relevance(
      {.query = in_heads(of_query, batch, heads),
       .key = in_heads(of_key, batch, heads),
       .value = in_heads(value, batch, heads)},
      {.scale = 1 / std::sqrt(double(nodes)), .causal = seen == sides::past});
  wane::attend(relevance, in_heads(z, batch, heads));
  return z;
}

struct feed_forward {
  activations in, out;

  explicit feed_forward(initial_weights& start)
      : in(start.linear<double>(inner, width)), out(start.linear<double>(width, inner)) {}
  activations operator()(activations const& y) const {
    activations const h = (y * in.transpose()).unaryExpr([](double x) {
      return x / 2 * std::erfc(-x / std::numbers::sqrt2);  // GELU
    });
    return group_norm<double>(y + h * out.transpose(), 1, 1e-5);
  }
};

struct encoder_block {
  transform of_tokens;
  activations value;
  feed_forward last;

  explicit encoder_block(initial_weights& start)
      : value(start.linear<double>(width, width)), last(start) {}
  activations operator()(activations const& x, index batch) const {
    activations const l = of_tokens(x, batch, sides::both);
    activations const z = attend(l, l, x * value.transpose(), batch, sides::both);
    return last(group_norm<double>(x + z, 1, 1e-5));
  }
};

struct decoder_block {
  transform of_tokens, of_queries, of_keys;
  activations value, cross_value;
  feed_forward last;

  explicit decoder_block(initial_weights& start)
      : value(start.linear<double>(width, width)),
        cross_value(start.linear<double>(width, width)),
        last(start) {}
  activations operator()(activations const& y, activations const& encoded, index batch) const {
    activations const l = of_tokens(y, batch, sides::past);
    activations const z = attend(l, l, y * value.transpose(), batch, sides::past);
    activations const own = group_norm<double>(y + z, 1, 1e-5);
    activations const c =
        attend(of_queries(own, batch, sides::past), of_keys(encoded, batch, sides::both),
               encoded * cross_value.transpose(), batch, sides::both);
    return last(group_norm<double>(own + c, 1, 1e-5));
  }
};

// Two blocks each; a token of the vocabulary is a row of its matrix, which also reads the answer.
struct encoder_decoder {
  static constexpr index vocabulary = 50;
  initial_weights start;
  activations words = start.random<double>(vocabulary, width, 1);
  encoder_block first{start}, second{start};
  decoder_block third{start}, fourth{start};

  activations embedded(std::vector<int> const& tokens, index batch) const {
    index const time = std::ssize(tokens) / batch;
    activations x(std::ssize(tokens), width);
    for (index n = 0; n < x.rows(); ++n) {
      x.row(n) = words.row(tokens[std::size_t(n)]);
      for (index j = 0; j < width; ++j)  // positions, as sines and cosines
        x(n, j) += std::sin(double(n % time) * std::pow(1e4, -double(j / 2 * 2) / width) +
                            double(j % 2) * std::numbers::pi / 2);
    }
    return x;
  }
  // Probabilities of the next token, [B M, vocabulary].
  activations operator()(std::vector<int> const& source, std::vector<int> const& target,
                         index batch) const {
    activations const encoded = second(first(embedded(source, batch), batch), batch);
    activations const decoded =
        fourth(third(embedded(target, batch), encoded, batch), encoded, batch);
    activations p = decoded * words.transpose() / std::sqrt(double(width));
    p = (p.colwise() - p.rowwise().maxCoeff()).array().exp();
    return p.array().colwise() / p.rowwise().sum().array();
  }
};

}  // namespace layers

int main() {
  using namespace layers;
  constexpr layers::index batch = 2, source_time = 90, target_time = 40, changed = 25;
  encoder_decoder const model{initial_weights{std::mt19937(1)}};
  std::vector<int> source, target;
  for (int n = 0; n < batch * source_time; ++n) source.push_back(n * n % 47);
  for (int n = 0; n < batch * target_time; ++n) target.push_back(n * n % 43);
  activations const p = model(source, target, batch);

  // Another target token, in the first sequence: only later outputs may change.
  auto other = target;
  other[changed] = (other[changed] + 1) % 50;
  activations const after = (model(source, other, batch) - p).cwiseAbs();
  double const before = after.topRows(changed).maxCoeff(),
               behind = after.middleRows(changed, target_time - changed).maxCoeff(),
               elsewhere = after.bottomRows(target_time).maxCoeff();
  // Another last source token: all outputs of its sequence may change.
  auto last = source;
  last[source_time - 1] = (last[source_time - 1] + 1) % 50;
  double const of_source = (model(last, target, batch) - p).cwiseAbs().row(0).maxCoeff();

  double const sum = (p.rowwise().sum().array() - 1).abs().maxCoeff();
  std::printf("probabilities sum to 1 within %.1g\n", sum);
  std::printf(
      "token %d of the target changes those before by %g, of others by %g, its own and "
      "later ones by %.2g\n",
      int(changed), before, elsewhere, behind);
  std::printf("the last token of the source changes the first answer by %.2g\n", of_source);
  return sum < 1e-12 && before == 0 && elsewhere == 0 && behind > 1e-4 && of_source > 1e-6 ? 0 : 1;
}
