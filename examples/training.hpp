// Training by hand-written gradients: AdamW, questions, shifts and the loss of an answer.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

namespace training {

// [B T, channels], the T tokens of a sequence one below the other; weights are [in, out].
using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Normal numbers of standard deviation `scale`.
inline matrix normal(std::mt19937& bits, Eigen::Index rows, Eigen::Index columns, double scale) {
  std::normal_distribution<float> one;
  return matrix::NullaryExpr(rows, columns, [&] { return static_cast<float>(scale) * one(bits); });
}

// Loshchilov and Hutter 2019. all() of Weights are pointers to its matrices.
template <class Weights>
struct adamw {
  Weights mean, square;  // zeros at first
  double rate, decay = 1e-2;
  int steps = 0;

  void step(Weights& of, Weights& gradients) {
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

// The tokens one place later (or earlier) in each sequence, with zeros before (behind) them.
inline matrix shifted(matrix const& x, Eigen::Index tokens, bool later) {
  matrix y = matrix::Zero(x.rows(), x.cols());
  for (Eigen::Index b = 0; b < x.rows(); b += tokens)
    y.middleRows(b + later, tokens - 1) = x.middleRows(b + !later, tokens - 1);
  return y;
}

// `batch` sequences of pairs of a key and a value, and then the keys in another order. Keys are
// tokens from 0, values from `symbols` on; the answer of a key is the number of its value, from 0.
struct questions {
  std::vector<int> tokens, answers;  // answers are -1 where there is no question

  questions(std::mt19937& bits, Eigen::Index batch, Eigen::Index pairs, Eigen::Index symbols) {
    auto const count = static_cast<std::size_t>(pairs);
    std::vector<int> keys(static_cast<std::size_t>(symbols)), order(count), values(keys.size());
    std::iota(keys.begin(), keys.end(), 0), std::iota(order.begin(), order.end(), 0);
    for (Eigen::Index b = 0; b < batch; ++b) {
      std::shuffle(keys.begin(), keys.end(), bits), std::shuffle(order.begin(), order.end(), bits);
      for (int& v : values) v = static_cast<int>(bits() % keys.size());
      for (std::size_t p = 0; p < count; ++p)
        tokens.insert(tokens.end(), {keys[p], static_cast<int>(symbols) + values[p]});
      answers.insert(answers.end(), 2 * count, -1);
      for (int const p : order) {
        auto const asked = static_cast<std::size_t>(p);
        tokens.push_back(keys[asked]), answers.push_back(values[asked]);
      }
    }
  }
};

// The rows that have an answer; others have -1.
inline std::vector<Eigen::Index> asked_rows(std::vector<int> const& answers) {
  std::vector<Eigen::Index> rows;
  for (std::size_t n = 0; n < answers.size(); ++n)
    if (answers[n] >= 0) rows.push_back(static_cast<Eigen::Index>(n));
  return rows;
}

struct result {
  double loss = 0, right = 0;  // means over the questions
};
// The cross-entropy of logits z, a row for each question, and whether the largest is the answer. z
// becomes its gradient.
inline result cross_entropy(matrix& z, std::vector<int> const& answers) {
  result found;
  Eigen::Index row = 0;
  auto const count = static_cast<double>(z.rows());
  for (int const answer : answers) {
    if (answer < 0) continue;
    Eigen::Index best;
    float const greatest = z.row(row).maxCoeff(&best);
    z.row(row) = (z.row(row).array() - greatest).exp();
    z.row(row) /= z.row(row).sum();
    found.loss -= std::log(static_cast<double>(z(row, answer))) / count;
    found.right += (best == answer) / count;
    z(row++, answer) -= 1;
  }
  z /= static_cast<float>(count);
  return found;
}

}  // namespace training
