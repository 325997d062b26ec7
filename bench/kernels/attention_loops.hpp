// Causal softmax attention as others write it: query after query, in Eigen.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "kernels/eigen.hpp"
#include "wane/core/numbers/scalar.hpp"

namespace wane::bench {

template <class T>
using attention_vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using attention_matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// One head: [T, D] each. Queries carry the scale.
template <class T>
struct attention_head {
  attention_matrix<T> query, key, value;

  // The weights of query t on the tokens up to its own.
  attention_vector<T> weights(index t) const {
    attention_vector<T> p;
    p.noalias() = key.topRows(t + 1) * query.row(t).transpose();
    p = (p.array() - p.maxCoeff()).exp();
    return p / p.sum();
  }
};

// give(t, y_t) for each query.
template <class T, class Give>
void attention_forward(attention_head<T> const& x, Give const& give) {
  attention_vector<T> y;
  for (index t = 0; t < x.query.rows(); ++t) {
    y.noalias() = x.value.topRows(t + 1).transpose() * x.weights(t);
    give(t, y);
  }
}

// From dL/dy, [T, D], to the gradients of a head's tensors, which are held in T.
template <class T>
void attention_backward(attention_head<T> const& x, attention_matrix<T> const& of_output,
                        attention_head<T>& to) {
  to.query.setZero(x.query.rows(), x.query.cols());
  to.key = to.value = to.query;
  attention_vector<T> of_scores;
  for (index t = 0; t < x.query.rows(); ++t) {
    attention_vector<T> const p = x.weights(t);
    of_scores.noalias() = x.value.topRows(t + 1) * of_output.row(t).transpose();
    of_scores = p.array() * (of_scores.array() - p.dot(of_scores));
    to.query.row(t).noalias() = of_scores.transpose() * x.key.topRows(t + 1);
    to.key.topRows(t + 1).noalias() += of_scores * x.query.row(t);
    to.value.topRows(t + 1).noalias() += p * of_output.row(t);
  }
}

}  // namespace wane::bench
