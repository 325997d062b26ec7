// Training a memory: a model with a Gated DeltaNet learns to recall values by key. Embedding,
// projections, memory, head and AdamW, all gradients by hand; the memory is one struct.
// SPDX-License-Identifier: MIT
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>
#include <wane/eigen.hpp>
#include <wane/wane.hpp>

namespace recall {

using wane::by_head, wane::in_heads, wane::index;
using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// A sequence has 8 pairs of a key and a value, and then the 8 keys in another order. At each of
// these the model has to name the value.
constexpr index batch = 32, pairs = 8, tokens = 3 * pairs, symbols = 16;  // as many keys as values
constexpr index width = 32, heads = 2;

// The memory, and what it reads of every token: [B T, width], strength and log_decay [B T, heads].
// To try another operator, edit op() and, where its inputs have other names, adjoint().
struct memory {
  matrix query, key, value, strength, log_decay;

  auto op() const {
    return wane::gated_delta_net({.query = in_heads(query, batch, heads),
                                  .key = in_heads(key, batch, heads),
                                  .value = in_heads(value, batch, heads),
                                  .strength = by_head(strength, batch)},
                                 by_head(log_decay, batch), {.normalise = true});
  }
  matrix output() const {
    matrix y(batch * tokens, width);
    wane::run(op(), in_heads(y, batch, heads));
    return y;
  }
  // The gradients of what the memory reads.
  memory adjoint(matrix const& dy) const {
    memory to = *this;
    to.strength.setZero(), to.log_decay.setZero();  // for an operator that reads neither
    wane::adjoint(op(), in_heads(dy, batch, heads),
                  {.query = in_heads(to.query, batch, heads),
                   .key = in_heads(to.key, batch, heads),
                   .value = in_heads(to.value, batch, heads),
                   .strength = by_head(to.strength, batch),
                   .log_decay = by_head(to.log_decay, batch)});
    return to;
  }
};

// The weights, or as many numbers for each of them: gradients, moments.
struct weights {
  matrix embedding, query, key, value, strength, decay, output, head;

  explicit weights(std::mt19937& bits, double scale = 1) {
    std::normal_distribution<float> normal;
    index const sizes[][2] = {{2 * symbols, width}, {width, width},  {width, width},
                              {width, width},       {width, heads},  {width, heads},
                              {width, width},       {width, symbols}};
    for (std::size_t i = 0; i < all().size(); ++i)
      *all()[i] = matrix::NullaryExpr(sizes[i][0], sizes[i][1], [&] {
        return static_cast<float>(scale / std::sqrt(width)) * normal(bits);
      });
  }
  std::array<matrix*, 8> all() {
    return {&embedding, &query, &key, &value, &strength, &decay, &output, &head};
  }
};

struct adamw {
  weights mean, square;
  double rate, decay = 1e-2;
  int steps = 0;

  void step(weights& of, weights& gradients) {
    ++steps;
    auto const bias = [&](double beta) { return 1 - std::pow(beta, steps); };
    auto const unbiased = static_cast<float>(rate * std::sqrt(bias(0.999)) / bias(0.9));
    for (std::size_t i = 0; i < of.all().size(); ++i) {
      auto w = of.all()[i]->array(), g = gradients.all()[i]->array();
      auto m = mean.all()[i]->array(), v = square.all()[i]->array();
      m += 0.1f * (g - m), v += 0.001f * (g.square() - v);
      w -= static_cast<float>(rate * decay) * w + unbiased * m / (v.sqrt() + 1e-8f);
    }
  }
};

struct examples {
  std::vector<int> tokens, answers;  // answers are -1 where there is no question

  explicit examples(std::mt19937& bits) {
    std::vector<int> keys(symbols), values(symbols), order(pairs);
    for (int i = 0; i < symbols; ++i) keys[std::size_t(i)] = i;
    for (int i = 0; i < pairs; ++i) order[std::size_t(i)] = i;
    for (index b = 0; b < batch; ++b) {
      std::shuffle(keys.begin(), keys.end(), bits), std::shuffle(order.begin(), order.end(), bits);
      for (int& v : values) v = static_cast<int>(bits() % symbols);
      for (std::size_t p = 0; p < pairs; ++p)
        tokens.insert(tokens.end(), {keys[p], static_cast<int>(symbols) + values[p]});
      answers.insert(answers.end(), 2 * pairs, -1);
      for (int p : order) {
        tokens.push_back(keys[std::size_t(p)]), answers.push_back(values[std::size_t(p)]);
      }
    }
  }
};

// The tokens one place later (or earlier) in each sequence, with zeros before (behind) them.
matrix shifted(matrix const& x, bool later) {
  matrix y = matrix::Zero(x.rows(), x.cols());
  for (index b = 0; b < batch; ++b)
    y.middleRows(b * tokens + later, tokens - 1) = x.middleRows(b * tokens + !later, tokens - 1);
  return y;
}

struct result {
  double loss = 0, right = 0;
};

// The mean loss and accuracy; the gradients of the weights, where they are asked for.
result pass(weights const& w, examples const& of, weights* to = nullptr) {
  matrix const x = w.embedding(of.tokens, Eigen::all), before = shifted(x, true);
  memory in;
  in.query = x * w.query, in.value = x * w.value;
  in.key = before * w.key;  // a value is written under the token before it
  in.strength = (1 + (-(x * w.strength).array()).exp()).inverse();
  in.log_decay = -(1 + (-(x * w.decay).array() - 4).exp()).log();  // log sigmoid; slow at first
  matrix const y = in.output(), h = x + y * w.output;

  std::vector<index> asked;
  for (index n = 0; n < h.rows(); ++n)
    if (of.answers[std::size_t(n)] >= 0) asked.push_back(n);
  matrix const asked_h = h(asked, Eigen::all);
  matrix z = asked_h * w.head;
  auto const count = static_cast<float>(asked.size());
  result found;
  for (index i = 0; i < z.rows(); ++i) {
    index const answer = of.answers[std::size_t(asked[std::size_t(i)])];
    index best;
    float const greatest = z.row(i).maxCoeff(&best);
    z.row(i) = (z.row(i).array() - greatest).exp();
    z.row(i) /= z.row(i).sum();
    found.loss -= std::log(static_cast<double>(z(i, answer))) / static_cast<double>(count);
    found.right += (best == answer) / static_cast<double>(count);
    z(i, answer) -= 1;
  }
  if (!to) return found;

  z /= count;  // dL/dlogits
  to->head = asked_h.transpose() * z;
  matrix dh = matrix::Zero(h.rows(), width);
  dh(asked, Eigen::all) = z * w.head.transpose();
  to->output = y.transpose() * dh;
  memory const d = in.adjoint(dh * w.output.transpose());
  matrix const of_strength = d.strength.array() * in.strength.array() * (1 - in.strength.array());
  matrix const of_decay = d.log_decay.array() * (1 - in.log_decay.array().exp());
  to->query = x.transpose() * d.query, to->value = x.transpose() * d.value;
  to->key = before.transpose() * d.key;
  to->strength = x.transpose() * of_strength, to->decay = x.transpose() * of_decay;
  matrix const dx = dh + d.query * w.query.transpose() + d.value * w.value.transpose() +
                    shifted(d.key * w.key.transpose(), false) +
                    of_strength * w.strength.transpose() + of_decay * w.decay.transpose();
  to->embedding.setZero();
  for (index n = 0; n < dx.rows(); ++n) to->embedding.row(of.tokens[std::size_t(n)]) += dx.row(n);
  return found;
}

int train() {
  std::mt19937 bits(1);
  weights model(bits), gradients(bits, 0);
  adamw optimizer{weights(bits, 0), weights(bits, 0), 3e-3};
  for (int n = 1; n <= 125; ++n) {
    result const r = pass(model, examples(bits), &gradients);
    optimizer.step(model, gradients);
    if (n == 1 || n % 25 == 0)
      std::printf("step %3d   loss %.3f   right %5.1f %%\n", n, r.loss, 100 * r.right);
  }
  result const fresh = pass(model, examples(bits));
  std::printf("fresh sequences   loss %.3f   right %5.1f %%\n", fresh.loss, 100 * fresh.right);
  return fresh.right > 0.95 ? 0 : 1;
}

}  // namespace recall

int main() { return recall::train(); }
