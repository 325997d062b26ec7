// laplace as others write it: the plain loop over complex poles, the loop in Eigen.
// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <vector>

#include "kernels/linear_recurrence_loops.hpp"
#include "wane/core/numbers/scalar.hpp"

namespace wane::bench {

// One head: poles p, the factors p^D of inputs that leave (none leave where D is 0), and weights c,
// [P] or [P, C].
template <class T>
struct laplace_loop {
  index channels = 0, reach = 0;
  bool by_column = false;
  std::vector<std::complex<T>> pole = {}, leaving = {}, weight = {};

  index poles() const { return static_cast<index>(pole.size()); }
  std::complex<T> weight_of(index i, index j) const {
    return weight[static_cast<std::size_t>(by_column ? i * channels + j : i)];
  }
};

// The token that enters and the token that leaves: forward or backward in time.
struct laplace_order {
  index tokens, reach;
  bool back = false;

  index token(index t) const { return back ? tokens - 1 - t : t; }
  bool leaves(index t) const { return reach > 0 && t >= reach; }
  index leaving(index t) const { return token(t - reach); }
};

// M_i <- p_i M_i + x_t - p_i^D x_{t-D},  y_t = Re sum_i c_i M_i; x and y are [T, C]. Back in time
// it turns gradients of y into gradients of x.
template <class T, class Io>
void plain_laplace(laplace_loop<T> const& loop, laplace_order const& order, Io const* x, Io* y) {
  index const n = loop.channels, poles = loop.poles();
  std::vector<T> state(static_cast<std::size_t>(2 * poles * n)),
      answer(static_cast<std::size_t>(n));
  std::vector<T> weights(static_cast<std::size_t>(loop.by_column ? 2 * poles * n : 0));
  for (index i = 0; loop.by_column && i < poles; ++i)
    for (index j = 0; j < n; ++j) {
      weights[static_cast<std::size_t>(2 * i * n + j)] = loop.weight_of(i, j).real();
      weights[static_cast<std::size_t>((2 * i + 1) * n + j)] = loop.weight_of(i, j).imag();
    }
  T* __restrict const sum = answer.data();
  for (index t = 0; t < order.tokens; ++t) {
    Io const* __restrict const in = x + order.token(t) * n;
    for (index j = 0; j < n; ++j) sum[j] = 0;
    for (index i = 0; i < poles; ++i) {
      T* __restrict const re = state.data() + 2 * i * n;
      T* __restrict const im = re + n;
      auto const at = static_cast<std::size_t>(i);
      T const a = loop.pole[at].real(), b = loop.pole[at].imag();
      for (index j = 0; j < n; ++j) {
        T const next = a * re[j] - b * im[j] + static_cast<T>(in[j]);
        im[j] = a * im[j] + b * re[j];
        re[j] = next;
      }
      if (order.leaves(t)) {
        Io const* __restrict const gone = x + order.leaving(t) * n;
        T const c = loop.leaving[at].real(), d = loop.leaving[at].imag();
        for (index j = 0; j < n; ++j)
          re[j] -= c * static_cast<T>(gone[j]), im[j] -= d * static_cast<T>(gone[j]);
      }
      if (loop.by_column) {
        T const* __restrict const c = weights.data() + 2 * i * n;
        for (index j = 0; j < n; ++j) sum[j] += c[j] * re[j] - c[n + j] * im[j];
      } else {
        T const c = loop.weight[at].real(), d = loop.weight[at].imag();
        for (index j = 0; j < n; ++j) sum[j] += c * re[j] - d * im[j];
      }
    }
    Io* __restrict const out = y + order.token(t) * n;
    for (index j = 0; j < n; ++j) out[j] = static_cast<Io>(sum[j]);
  }
}

// Gradients by poles: dL = Re sum_i (log_pole[i] d log p_i + sum_j weight[i, j] d c_ij).
template <class T>
struct laplace_sums {
  std::vector<std::complex<T>> log_pole, weight;  // [P], [P, C]
};

// With D = sum_l l p^l x_{t-l} beside M: sums of dy D and dy M over tokens.
template <class T, class Io>
laplace_sums<T> plain_laplace_gradients(laplace_loop<T> const& loop, index tokens, Io const* x,
                                        Io const* gradient) {
  index const n = loop.channels, poles = loop.poles();
  laplace_order const order{tokens, loop.reach};
  std::vector<T> rows(static_cast<std::size_t>(8 * poles * n));
  for (index t = 0; t < tokens; ++t) {
    Io const* __restrict const in = x + t * n, * __restrict const dy = gradient + t * n;
    for (index i = 0; i < poles; ++i) {
      T* __restrict const row = rows.data() + 8 * i * n;
      auto const at = static_cast<std::size_t>(i);
      T const a = loop.pole[at].real(), b = loop.pole[at].imag();
      for (index j = 0; j < n; ++j) {
        T &re = row[j], &im = row[n + j], &slope_re = row[2 * n + j], &slope_im = row[3 * n + j];
        T const d_re = slope_re + re, d_im = slope_im + im, m_re = re;
        slope_re = a * d_re - b * d_im;
        slope_im = a * d_im + b * d_re;
        re = a * m_re - b * im + static_cast<T>(in[j]);
        im = a * im + b * m_re;
      }
      if (order.leaves(t)) {
        Io const* __restrict const gone = x + order.leaving(t) * n;
        T const c = loop.leaving[at].real(), d = loop.leaving[at].imag(), often = T(loop.reach);
        for (index j = 0; j < n; ++j) {
          T const left = static_cast<T>(gone[j]);
          row[j] -= c * left, row[n + j] -= d * left;
          row[2 * n + j] -= often * c * left, row[3 * n + j] -= often * d * left;
        }
      }
      for (index part = 0; part < 4; ++part)
        for (index j = 0; j < n; ++j)
          row[(4 + part) * n + j] += static_cast<T>(dy[j]) * row[part * n + j];
    }
  }
  laplace_sums<T> found;
  for (index i = 0; i < poles; ++i) {
    T const* const row = rows.data() + (8 * i + 4) * n;
    std::complex<T> of_log = 0;
    for (index j = 0; j < n; ++j) {
      found.weight.emplace_back(row[j], row[n + j]);
      of_log += multiply(loop.weight_of(i, j), std::complex<T>(row[2 * n + j], row[3 * n + j]));
    }
    found.log_pole.push_back(of_log);
  }
  return found;
}

// The same with states [C, P] of complex numbers.
template <class T>
struct eigen_poles {
  using number = std::complex<T>;
  using states = Eigen::Array<number, Eigen::Dynamic, Eigen::Dynamic>;
  Eigen::Array<number, 1, Eigen::Dynamic> pole, leaving;
  states weight;

  explicit eigen_poles(laplace_loop<T> const& loop)
      : pole(loop.poles()), leaving(loop.poles()), weight(loop.channels, loop.poles()) {
    for (index i = 0; i < loop.poles(); ++i) {
      pole(i) = loop.pole[static_cast<std::size_t>(i)];
      leaving(i) = loop.leaving[static_cast<std::size_t>(i)];
      for (index j = 0; j < loop.channels; ++j) weight(j, i) = loop.weight_of(i, j);
    }
  }
};

template <class T, class Io>
void eigen_laplace(laplace_loop<T> const& loop, laplace_order const& order, Io const* x, Io* y) {
  using poles = eigen_poles<T>;
  using number = typename poles::number;
  Eigen::Map<eigen_rows<Io> const> const in(x, order.tokens, loop.channels);
  Eigen::Map<eigen_rows<Io>> out(y, order.tokens, loop.channels);
  poles const p(loop);
  typename poles::states m = poles::states::Zero(loop.channels, loop.poles());
  for (index t = 0; t < order.tokens; ++t) {
    index const at = order.token(t);
    m.rowwise() *= p.pole;
    m.colwise() += in.row(at).transpose().template cast<number>();
    if (order.leaves(t))
      m.matrix().noalias() -=
          in.row(order.leaving(t)).transpose().template cast<number>().matrix() *
          p.leaving.matrix();
    if (loop.by_column)
      out.row(at) = (m * p.weight).rowwise().sum().real().transpose().template cast<Io>();
    else
      out.row(at) = (m.matrix() * p.weight.row(0).matrix().transpose())
                        .real()
                        .transpose()
                        .array()
                        .template cast<Io>();
  }
}

template <class T, class Io>
laplace_sums<T> eigen_laplace_gradients(laplace_loop<T> const& loop, index tokens, Io const* x,
                                        Io const* gradient) {
  using poles = eigen_poles<T>;
  using number = typename poles::number;
  using states = typename poles::states;
  Eigen::Map<eigen_rows<Io> const> const in(x, tokens, loop.channels),
      dy(gradient, tokens, loop.channels);
  poles const p(loop);
  laplace_order const order{tokens, loop.reach};
  states m = states::Zero(loop.channels, loop.poles()), d = m, of_weight = m, of_log = m;
  for (index t = 0; t < tokens; ++t) {
    d = (d + m).rowwise() * p.pole;
    m.rowwise() *= p.pole;
    m.colwise() += in.row(t).transpose().template cast<number>();
    if (order.leaves(t)) {
      auto const gone = in.row(order.leaving(t)).transpose().template cast<number>().matrix();
      m.matrix().noalias() -= gone * p.leaving.matrix();
      d.matrix().noalias() -= gone * (p.leaving * number(T(loop.reach))).matrix();
    }
    Eigen::Array<number, Eigen::Dynamic, 1> const g = dy.row(t).transpose().template cast<number>();
    of_weight += m.colwise() * g;
    of_log += d.colwise() * g;
  }
  laplace_sums<T> found;
  for (index i = 0; i < loop.poles(); ++i) {
    for (index j = 0; j < loop.channels; ++j) found.weight.push_back(of_weight(j, i));
    found.log_pole.push_back((of_log.col(i) * p.weight.col(i)).sum());
  }
  return found;
}

}  // namespace wane::bench
