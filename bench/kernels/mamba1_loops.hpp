// The selective scan as others write it: a loop over tokens in Eigen, the states an array.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <vector>

#include "kernels/eigen.hpp"
#include "wane/core/numbers/scalar.hpp"

namespace wane::bench {

template <class T>
using mamba1_row = Eigen::Array<T, 1, Eigen::Dynamic>;
template <class T>
using mamba1_rows = Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// x, dt, output and their gradients: [T, C]; keys (B) and queries (C): [T, N]; rates (A): [C, N].
// Delta is softplus(dt).
template <class T>
struct mamba1_arrays {
  mamba1_rows<T> x, dt, rates, keys, queries;

  template <class U>
  mamba1_arrays<U> cast() const {
    return {x.template cast<U>(), dt.template cast<U>(), rates.template cast<U>(),
            keys.template cast<U>(), queries.template cast<U>()};
  }
};

// One token: h <- e^{A Delta} o h + Delta x B^T, [C, N].
template <class T>
void mamba1_advance(mamba1_arrays<T> const& p, index t, mamba1_rows<T>& h) {
  mamba1_row<T> const delta = p.dt.row(t).exp().log1p(), written = delta * p.x.row(t);
  h *= (p.rates.colwise() * delta.transpose()).exp();
  h.matrix().noalias() += written.matrix().transpose() * p.keys.row(t).matrix();
}

// output [T, C]; h is the state before the first token, and after the last.
template <class T>
void mamba1_forward(mamba1_arrays<T> const& p, mamba1_rows<T>& h, mamba1_rows<T>& output) {
  for (index t = 0; t < p.x.rows(); ++t) {
    mamba1_advance(p, t, h);
    output.row(t).matrix().noalias() = p.queries.row(t).matrix() * h.matrix().transpose();
  }
}

// From dL/doutput to the gradients `to`; all states are kept in `kept`, and begin as zero.
template <class T>
void mamba1_backward(mamba1_arrays<T> const& p, mamba1_rows<T> const& output_gradient,
                     std::vector<mamba1_rows<T>>& kept, mamba1_arrays<T>& to) {
  index const tokens = p.x.rows();
  mamba1_rows<T> g = mamba1_rows<T>::Zero(p.rates.rows(), p.rates.cols());
  kept.resize(static_cast<std::size_t>(tokens) + 1, g);
  for (index t = 0; t < tokens; ++t) {
    auto const at = static_cast<std::size_t>(t);
    kept[at + 1] = kept[at];
    mamba1_advance(p, t, kept[at + 1]);
  }
  to.rates.setZero();
  for (index t = tokens; t-- > 0;) {
    auto const at = static_cast<std::size_t>(t);
    auto const dy = output_gradient.row(t).matrix();
    mamba1_row<T> const raw = p.dt.row(t).exp(), delta = raw.log1p();
    g.matrix().noalias() += dy.transpose() * p.queries.row(t).matrix();
    to.queries.row(t).matrix().noalias() = dy * kept[at + 1].matrix();
    mamba1_row<T> const of_written = (p.keys.row(t).matrix() * g.matrix().transpose()).array();
    to.keys.row(t).matrix().noalias() = (delta * p.x.row(t)).matrix() * g.matrix();
    to.x.row(t) = delta * of_written;
    g *= (p.rates.colwise() * delta.transpose()).exp();
    mamba1_rows<T> const of_logs = g * kept[at];
    to.rates += of_logs.colwise() * delta.transpose();
    mamba1_row<T> const of_delta =
        p.x.row(t) * of_written + (of_logs * p.rates).rowwise().sum().transpose();
    to.dt.row(t) = of_delta * raw / (1 + raw);
  }
}

}  // namespace wane::bench
