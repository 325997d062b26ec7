// retention and retrieval as others write them: a loop over tokens and nodes in Eigen.
// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/keyed_loops.hpp"
#include "wane/spectra/order_table.hpp"

namespace wane::bench {

// Inputs of [T, F], [T, V] and [T, 1], or their gradients; in retention features are 1, and one.
template <class T>
struct retention_arrays {
  keyed_matrix<T> query, key, value, alpha;

  template <class To>
  retention_arrays<To> cast() const {
    return {query.template cast<To>(), key.template cast<To>(), value.template cast<To>(),
            alpha.template cast<To>()};
  }
};

// G_s <- e^{-r_s} G_s + c_s k v^T,  y = sum_s G_s^T q + d (q . k) v; the states lie [S, F, V].
template <class T>
void retention_forward(retention_arrays<T> const& x, spectra::order_table<T> const& nodes,
                       keyed_matrix<T>& states, keyed_matrix<T>& y) {
  index const features = x.key.cols();
  for (index t = 0; t < x.value.rows(); ++t) {
    auto const q = x.query.row(t), k = x.key.row(t), v = x.value.row(t);
    auto const order = nodes.at(x.alpha(t, 0));
    y.row(t) = order.weight(nodes.nodes()) * q.dot(k) * v;
    for (index s = 0; s < nodes.nodes(); ++s) {
      auto g = states.middleRows(s * features, features);
      g *= std::exp(nodes.log_decay(0, 0, 0, s));
      g.noalias() += order.weight(s) * k.transpose() * v;
      y.row(t).noalias() += q * g;
    }
  }
}

// Along time the gradients of queries, and back the others, from states of zero.
template <class T>
void retention_backward(retention_arrays<T> const& x, spectra::order_table<T> const& nodes,
                        keyed_matrix<T> const& dy, retention_arrays<T>& to) {
  index const features = x.key.cols(), count = nodes.nodes();
  keyed_matrix<T> states = keyed_matrix<T>::Zero(count * features, x.value.cols());
  for (index t = 0; t < x.value.rows(); ++t) {
    auto const k = x.key.row(t), v = x.value.row(t);
    auto const order = nodes.at(x.alpha(t, 0));
    to.query.row(t) = order.weight(count) * v.dot(dy.row(t)) * k;
    for (index s = 0; s < count; ++s) {
      auto g = states.middleRows(s * features, features);
      g *= std::exp(nodes.log_decay(0, 0, 0, s));
      g.noalias() += order.weight(s) * k.transpose() * v;
      to.query.row(t).noalias() += dy.row(t) * g.transpose();
    }
  }
  states.setZero();  // now their gradients
  keyed_matrix<T> of_key(1, features);
  for (index t = x.value.rows(); t-- > 0;) {
    auto const q = x.query.row(t), k = x.key.row(t), v = x.value.row(t);
    auto const order = nodes.at(x.alpha(t, 0));
    T const match = q.dot(k), along = v.dot(dy.row(t));
    to.key.row(t) = order.weight(count) * along * q;
    to.value.row(t) = order.weight(count) * match * dy.row(t);
    to.alpha(t, 0) = order.slope(count) * match * along;
    for (index s = 0; s < count; ++s) {
      auto g = states.middleRows(s * features, features);
      g.noalias() += q.transpose() * dy.row(t);
      of_key.noalias() = v * g.transpose();
      to.key.row(t) += order.weight(s) * of_key;
      to.value.row(t).noalias() += order.weight(s) * k * g;
      to.alpha(t, 0) += order.slope(s) * k.dot(of_key.row(0));
      g *= std::exp(nodes.log_decay(0, 0, 0, s));
    }
  }
}

}  // namespace wane::bench
