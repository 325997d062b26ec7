// exponential_bank as others write it: the plain loop, the loop in Eigen, the same in wider type.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <vector>

#include "kernels/eigen.hpp"
#include "kernels/linear_recurrence_loops.hpp"

namespace wane::bench {

// values and output of [T, C]; factor, key and query of [S]. For the adjoint: dL/dy, its results,
// and room for the states of all tokens, [T, S, C].
template <class T>
struct bank_arrays {
  index tokens, channels, states;
  T const *values, *factor, *key, *query, *gradient;
  T *output, *values_gradient, *log_decay_gradient, *key_gradient, *query_gradient, *kept;
};

// h_s = l_s h_s + c_s v, y = sum_s q_s h_s; the states of a token lie [S, C].
template <class T>
void plain_bank_forward(bank_arrays<T> const& p) {
  index const channels = p.channels;
  std::vector<T> state(static_cast<std::size_t>(p.states * channels));
  for (index t = 0; t < p.tokens; ++t) {
    T const* __restrict const v = p.values + t * channels;
    T* __restrict const y = p.output + t * channels;
    for (index c = 0; c < channels; ++c) y[c] = 0;
    for (index s = 0; s < p.states; ++s) {
      T* __restrict const h = state.data() + s * channels;
      T const l = p.factor[s], k = p.key[s], q = p.query[s];
      for (index c = 0; c < channels; ++c) {
        h[c] = l * h[c] + k * v[c];
        y[c] += q * h[c];
      }
    }
  }
}

// Forward, keeping all states, and back: g_s = l_s g_s + q_s dy, dv = sum_s c_s g_s, and
// d log l_s = sum g_s l_s h_s(t-1), dc_s = sum g_s v, dq_s = sum dy h_s.
template <class T>
void plain_bank_backward(bank_arrays<T> const& p) {
  index const channels = p.channels, size = p.states * channels;
  std::vector<T> carried(static_cast<std::size_t>(size)), none(carried);
  for (index t = 0; t < p.tokens; ++t)
    for (index s = 0; s < p.states; ++s) {
      T const* __restrict const v = p.values + t * channels;
      T* __restrict const h = p.kept + t * size + s * channels;
      T const* const before = t > 0 ? h - size : none.data();
      for (index c = 0; c < channels; ++c) h[c] = p.factor[s] * before[c] + p.key[s] * v[c];
    }
  for (index s = 0; s < p.states; ++s)
    p.log_decay_gradient[s] = p.key_gradient[s] = p.query_gradient[s] = 0;
  for (index t = p.tokens - 1; t >= 0; --t) {
    T const* __restrict v = p.values + t * channels, * __restrict dy = p.gradient + t * channels;
    T* __restrict const dv = p.values_gradient + t * channels;
    for (index c = 0; c < channels; ++c) dv[c] = 0;
    for (index s = 0; s < p.states; ++s) {
      T* __restrict const g = carried.data() + s * channels;
      T const* const h = p.kept + t * size + s * channels;
      T const* const before = t > 0 ? h - size : none.data();
      T const l = p.factor[s], k = p.key[s], q = p.query[s];
      T of_decay = 0, of_key = 0, of_query = 0;
      for (index c = 0; c < channels; ++c) {
        g[c] = l * g[c] + q * dy[c];
        dv[c] += k * g[c];
        of_decay += g[c] * l * before[c];
        of_key += g[c] * v[c];
        of_query += dy[c] * h[c];
      }
      p.log_decay_gradient[s] += of_decay;
      p.key_gradient[s] += of_key;
      p.query_gradient[s] += of_query;
    }
  }
}

template <class T>
using eigen_matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using eigen_matrix_rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using eigen_vector = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1> const>;

template <class T>
void eigen_bank_forward(bank_arrays<T> const& p) {
  Eigen::Map<eigen_matrix_rows<T> const> const values(p.values, p.tokens, p.channels);
  Eigen::Map<eigen_matrix_rows<T>> output(p.output, p.tokens, p.channels);
  eigen_vector<T> const l(p.factor, p.states), k(p.key, p.states), q(p.query, p.states);
  eigen_matrix<T> h = eigen_matrix<T>::Zero(p.channels, p.states);
  for (index t = 0; t < p.tokens; ++t) {
    h = h * l.asDiagonal();
    h.noalias() += values.row(t).transpose() * k.transpose();
    output.row(t).transpose().noalias() = h * q;
  }
}

template <class T>
void eigen_bank_backward(bank_arrays<T> const& p) {
  Eigen::Map<eigen_matrix_rows<T> const> const values(p.values, p.tokens, p.channels),
      dy(p.gradient, p.tokens, p.channels);
  Eigen::Map<eigen_matrix_rows<T>> dv(p.values_gradient, p.tokens, p.channels);
  eigen_vector<T> const l(p.factor, p.states), k(p.key, p.states), q(p.query, p.states);
  Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>> dl(p.log_decay_gradient, p.states),
      dk(p.key_gradient, p.states), dq(p.query_gradient, p.states);
  auto const kept = [&](index t) {
    return Eigen::Map<eigen_matrix<T>>(p.kept + t * p.states * p.channels, p.channels, p.states);
  };
  eigen_matrix<T> h = eigen_matrix<T>::Zero(p.channels, p.states), g = h;
  for (index t = 0; t < p.tokens; ++t) {
    h = h * l.asDiagonal();
    h.noalias() += values.row(t).transpose() * k.transpose();
    kept(t) = h;
  }
  dl.setZero(), dk.setZero(), dq.setZero();
  for (index t = p.tokens - 1; t >= 0; --t) {
    g = g * l.asDiagonal();
    g.noalias() += dy.row(t).transpose() * q.transpose();
    dv.row(t).transpose().noalias() = g * k;
    dk.noalias() += g.transpose() * values.row(t).transpose();
    dq.noalias() += kept(t).transpose() * dy.row(t).transpose();
    if (t > 0) dl += l.cwiseProduct(g.cwiseProduct(kept(t - 1)).colwise().sum().transpose());
  }
}

}  // namespace wane::bench
