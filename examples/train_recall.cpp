// Training a memory: a model with a Gated DeltaNet learns to recall values by key. Embedding,
// projections, memory and head, all gradients by hand; the memory is one struct.
// SPDX-License-Identifier: MIT
#include <Eigen/Core>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <wane/eigen.hpp>
#include <wane/wane.hpp>

#include "training.hpp"

namespace recall {

using training::matrix, training::shifted, wane::by_head, wane::in_heads, wane::index;

// A sequence has 8 pairs of a key and a value, and then the 8 keys in another order. At each of
// these the model has to name the value.
constexpr index batch = 32, pairs = 8, tokens = 3 * pairs, symbols = 16;  // keys, and values
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
    index const sizes[][2] = {{2 * symbols, width}, {width, width},  {width, width},
                              {width, width},       {width, heads},  {width, heads},
                              {width, width},       {width, symbols}};
    for (std::size_t i = 0; i < all().size(); ++i)
      *all()[i] = training::normal(bits, sizes[i][0], sizes[i][1], scale / std::sqrt(width));
  }
  std::array<matrix*, 8> all() {
    return {&embedding, &query, &key, &value, &strength, &decay, &output, &head};
  }
};

// The mean loss and accuracy, and the gradients of the weights.
training::result pass(weights const& w, training::questions const& of, weights& to) {
  matrix const x = w.embedding(of.tokens, Eigen::all), before = shifted(x, tokens, true);
  memory in;
  in.query = x * w.query, in.value = x * w.value;
  in.key = before * w.key;  // a value is written under the token before it
  in.strength = (1 + (-(x * w.strength).array()).exp()).inverse();
  in.log_decay = -(1 + (-(x * w.decay).array() - 4).exp()).log();  // log sigmoid; slow at first
  matrix const y = in.output(), h = x + y * w.output;

  auto const asked = training::asked_rows(of.answers);
  matrix const asked_h = h(asked, Eigen::all);
  matrix z = asked_h * w.head;
  training::result const found = training::cross_entropy(z, of.answers);  // z is now dL/dz
  to.head = asked_h.transpose() * z;
  matrix dh = matrix::Zero(h.rows(), width);
  dh(asked, Eigen::all) = z * w.head.transpose();
  to.output = y.transpose() * dh;
  memory const d = in.adjoint(dh * w.output.transpose());
  matrix const of_strength = d.strength.array() * in.strength.array() * (1 - in.strength.array());
  matrix const of_decay = d.log_decay.array() * (1 - in.log_decay.array().exp());
  to.query = x.transpose() * d.query, to.value = x.transpose() * d.value;
  to.key = before.transpose() * d.key;
  to.strength = x.transpose() * of_strength, to.decay = x.transpose() * of_decay;
  matrix const dx = dh + d.query * w.query.transpose() + d.value * w.value.transpose() +
                    shifted(d.key * w.key.transpose(), tokens, false) +
                    of_strength * w.strength.transpose() + of_decay * w.decay.transpose();
  to.embedding.setZero();
  for (index n = 0; n < dx.rows(); ++n) to.embedding.row(of.tokens[std::size_t(n)]) += dx.row(n);
  return found;
}

int train() {
  std::mt19937 bits(1);
  weights model(bits), gradients(bits, 0);
  training::adamw<weights> optimizer{weights(bits, 0), weights(bits, 0), 3e-3};
  training::result found;
  for (int n = 0; n <= 125; ++n) {
    training::questions const fresh(bits, batch, pairs, symbols);
    found = pass(model, fresh, gradients);  // before it learns from them
    if (n % 25 == 0)
      std::printf("step %3d   loss %.3f   right %5.1f %%\n", n, found.loss, 100 * found.right);
    optimizer.step(model, gradients);
  }
  return found.right > 0.95 ? 0 : 1;
}

}  // namespace recall

int main() { return recall::train(); }
