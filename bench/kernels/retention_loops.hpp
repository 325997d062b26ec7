// retention and retrieval as others write them: loops over tokens and nodes, in Eigen or plain.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <vector>

#include "kernels/keyed_loops.hpp"
#include "wane/core/numbers/denormals.hpp"
#include "wane/spectra/orders/order_table.hpp"

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

// VORT's banks as section 3 of the paper has them: the orders of K, and S nodes for each.
template <class T>
struct vort_banks {
  std::vector<T> order;           // [K]
  std::vector<T> factor, weight;  // lambda and c, [K, S]

  index nearest(T alpha) const {
    index bank = 0;
    for (index k = 1; k < index(order.size()); ++k)
      if (std::abs(alpha - order[std::size_t(k)]) < std::abs(alpha - order[std::size_t(bank)]))
        bank = k;
    return bank;
  }
};

// VORT, eq. 12, token by token: M_{k,s} <- lambda_{k,s} M_{k,s}, and in the bank nearest alpha_t
// c_{k,s} v_t is added; y_t is the sum of all of them. The states lie [K S, V]. Denormals are
// flushed, which the fast nodes of a bank would otherwise be until it is written again.
template <class T>
void vort_forward(keyed_matrix<T> const& value, keyed_matrix<T> const& alpha,
                  vort_banks<T> const& banks, keyed_matrix<T>& states, keyed_matrix<T>& y) {
  wane::impl::flush_denormals const guard;
  index const columns = value.cols(), count = states.rows();
  index const nodes = count / index(banks.order.size());
  for (index t = 0; t < value.rows(); ++t) {
    T const* __restrict const v = value.data() + t * columns;
    T* __restrict const sum = y.data() + t * columns;
    for (index j = 0; j < columns; ++j) sum[j] = 0;
    index const routed = banks.nearest(alpha(t, 0));
    for (index s = 0; s < count; ++s) {
      T* __restrict const m = states.data() + s * columns;
      T const l = banks.factor[std::size_t(s)], c = banks.weight[std::size_t(s)];
      if (s / nodes == routed)
        for (index j = 0; j < columns; ++j) sum[j] += m[j] = l * m[j] + c * v[j];
      else
        for (index j = 0; j < columns; ++j) sum[j] += m[j] *= l;
    }
  }
}

// The largest difference over the largest value.
inline double apart(keyed_matrix<float> const& is, keyed_matrix<double> const& must_be) {
  difference found;
  for (index i = 0; i < is.size(); ++i) found.add(double(is.data()[i]), must_be.data()[i]);
  return found.relative();
}

}  // namespace wane::bench
