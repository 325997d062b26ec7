// What the keyed memories compute, written from the papers' formulas and with nothing of wane.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <vector>

#include "support/naive.hpp"
#include "wane/core/recurrence/view.hpp"

namespace support {

template <class Real>
using numbers = std::vector<Real>;

template <class Real>
Real dot(numbers<Real> const& x, numbers<Real> const& y) {
  Real total(0);
  for (std::size_t i = 0; i < x.size(); ++i) total += x[i] * y[i];
  return total;
}
// x o y
template <class Real>
numbers<Real> product(numbers<Real> x, numbers<Real> const& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= y[i];
  return x;
}
template <class Real>
numbers<Real> times(Real factor, numbers<Real> x) {
  for (Real& each : x) each *= factor;
  return x;
}
template <class Real>
numbers<Real> difference(numbers<Real> x, numbers<Real> const& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= y[i];
  return x;
}

// S, rows x columns.
template <class Real>
struct naive_state {
  std::size_t rows, columns;
  numbers<Real> s = numbers<Real>(rows * columns);

  // S <- diag(e^g) S
  void fade(numbers<Real> const& g) {
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        s[i * columns + j] = decayed_by_log(g[i], s[i * columns + j]);
  }
  // S <- S + x v^T
  void write(numbers<Real> const& x, numbers<Real> const& v) {
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) s[i * columns + j] += x[i] * v[j];
  }
  // S^T x
  numbers<Real> read(numbers<Real> const& x) const {
    numbers<Real> y(columns);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) y[j] += x[i] * s[i * columns + j];
    return y;
  }
};

// Raw tensors as a model has them, [B, T, heads, channels]; those with fewer heads than value are
// shared. log_decay has K channels, or 1 for all rows; absent, nothing is forgotten.
template <class Io>
struct naive_inputs {
  using tensor_view = wane::sequence_view<Io const>;
  tensor_view query, key, value;
  double scale = 1 / std::sqrt(static_cast<double>(key.extent[3]));
  bool normalise = false, tiled = false;
  double epsilon = 1e-6, floor = 0;
  tensor_view log_decay = {}, strength = {}, removal = {}, rate = {};
  wane::view<wane::widened<Io> const, 2> bonus = {};  // [H, K]

  template <class Real>
  numbers<Real> row(tensor_view const& x, index b, index t, index h) const {
    index const shared = x.extent[2], head = tiled ? h % shared : h * shared / value.extent[2];
    numbers<Real> found;
    for (index i = 0; i < x.extent[3]; ++i)
      found.push_back(static_cast<Real>(static_cast<wane::widened<Io>>(x(b, t, head, i))));
    return found;
  }
  // x, or x / sqrt(|x|^2 + epsilon)
  template <class Real>
  numbers<Real> direction(tensor_view const& x, index b, index t, index h) const {
    using std::sqrt;
    auto const raw = row<Real>(x, b, t, h);
    return normalise ? times(Real(1) / sqrt(dot(raw, raw) + Real(epsilon)), raw) : raw;
  }
  template <class Real>
  numbers<Real> decay(index b, index t, index h) const {
    auto const rows = static_cast<std::size_t>(key.extent[3]);
    if (!log_decay.data) return numbers<Real>(rows);
    auto const g = row<Real>(log_decay, b, t, h);
    return g.size() == 1 ? numbers<Real>(rows, g[0]) : g;
  }
};

// GLA (Yang et al. 2024, eq. 3) and, with one decay a head, RetNet (Sun et al. 2023, eq. 6):
// S <- diag(alpha) S + k v^T, o = S^T q. One token into S; returns its output.
template <class Real, class Io>
numbers<Real> naive_gla(naive_inputs<Io> const& in, naive_state<Real>& s, index b, index t,
                        index h) {
  s.fade(in.template decay<Real>(b, t, h));
  s.write(in.template direction<Real>(in.key, b, t, h), in.template row<Real>(in.value, b, t, h));
  return s.read(times(Real(in.scale), in.template direction<Real>(in.query, b, t, h)));
}

// Linear attention (Katharopoulos et al. 2020, equations 18 to 20, and a decay of both sums): the
// last column of S is z. S <- diag(alpha) S + k v^T, z <- diag(alpha) z + k,
// o = S^T q / max(q . z, floor).
template <class Real, class Io>
numbers<Real> naive_linear_attention(naive_inputs<Io> const& in, naive_state<Real>& s, index b,
                                     index t, index h) {
  auto v = in.template row<Real>(in.value, b, t, h);
  v.push_back(Real(1));
  s.fade(in.template decay<Real>(b, t, h));
  s.write(in.template direction<Real>(in.key, b, t, h), v);
  auto o = s.read(times(Real(in.scale), in.template direction<Real>(in.query, b, t, h)));
  Real const z = o.back(), floor(in.floor);
  o.pop_back();
  return times(Real(1) / (z < floor ? floor : z), o);
}

// VORT, arXiv 2605.08966, equations 14 to 16: S holds G of each node s, and as its last column b.
// S_s <- lambda_s S_s + c_s phi(k) (v, 1)^T, (n, d) = sum_s S_s^T phi(q) + c_S (phi(q) . phi(k))
// (v, 1) and, unless `own`, less what the token itself added; o = n / max(d, floor), or n.
// weight(s) is c_s of the token's order, fade(s) the log of lambda_s.
template <class Real, class Io>
numbers<Real> naive_retrieval(naive_inputs<Io> const& in, naive_state<Real>& s, index b, index t,
                              index h, index nodes, auto const& weight, auto const& fade, bool own,
                              bool divides) {
  auto const q = times(Real(in.scale), in.template direction<Real>(in.query, b, t, h)),
             k = in.template direction<Real>(in.key, b, t, h);
  auto v = in.template row<Real>(in.value, b, t, h);
  if (divides) v.push_back(Real(1));
  numbers<Real> logs, written, asked;
  for (index node = 0; node < nodes; ++node)
    for (std::size_t f = 0; f < k.size(); ++f)
      logs.push_back(fade(node)), written.push_back(weight(node) * k[f]), asked.push_back(q[f]);
  s.fade(logs);
  auto const before = s.read(asked);
  s.write(written, v);
  auto o = own ? difference(s.read(asked), times(-weight(nodes) * dot(q, k), v)) : before;
  if (!divides) return o;
  Real const d = o.back(), floor(in.floor);
  o.pop_back();
  return times(Real(1) / (d < floor ? floor : d), o);
}

// DeltaNet, Gated DeltaNet and, with a decay a row, Kimi Delta Attention:
// S <- (I - beta k k^T) diag(alpha) S + beta k v^T, o = S^T q.
template <class Real, class Io>
numbers<Real> naive_delta(naive_inputs<Io> const& in, naive_state<Real>& s, index b, index t,
                          index h) {
  auto const k = in.template direction<Real>(in.key, b, t, h);
  auto const beta = in.template row<Real>(in.strength, b, t, h)[0];
  s.fade(in.template decay<Real>(b, t, h));
  auto const held = s.read(k);
  s.write(times(beta, k), difference(in.template row<Real>(in.value, b, t, h), held));
  return s.read(times(Real(in.scale), in.template direction<Real>(in.query, b, t, h)));
}

// Pandey and Singh, arXiv 2605.11196, equation 4, their S transposed:
// S <- beta S + k (v - S^T k)^T, o = S^T q. beta is what naive_inputs calls `strength`.
template <class Real, class Io>
numbers<Real> naive_vla_delta(naive_inputs<Io> const& in, naive_state<Real>& s, index b, index t,
                              index h) {
  auto const k = in.template direction<Real>(in.key, b, t, h);
  auto const error = difference(in.template row<Real>(in.value, b, t, h), s.read(k));
  s.s = times(in.template row<Real>(in.strength, b, t, h)[0], s.s);
  s.write(k, error);
  return s.read(times(Real(in.scale), in.template direction<Real>(in.query, b, t, h)));
}

// RWKV-7 (Peng et al. 2025, eqs. 16 to 19, their S transposed):
// S <- (diag(w) - (a o c) c^T) S + k v^T, o = S^T r + (r . (rho o k)) v.
// Only c is normalised. The scale is of S^T r.
template <class Real, class Io>
numbers<Real> naive_rwkv7(naive_inputs<Io> const& in, naive_state<Real>& s, index b, index t,
                          index h) {
  auto const r = in.template row<Real>(in.query, b, t, h),
             k = in.template row<Real>(in.key, b, t, h),
             v = in.template row<Real>(in.value, b, t, h),
             a = in.template row<Real>(in.rate, b, t, h),
             c = in.template direction<Real>(in.removal, b, t, h);
  auto const erased = s.read(c);
  s.fade(in.template decay<Real>(b, t, h));
  s.write(times(Real(-1), product(a, c)), erased);
  s.write(k, v);
  auto y = s.read(times(Real(in.scale), r));
  if (!in.bonus.data) return y;
  Real bonus(0);
  for (std::size_t i = 0; i < s.rows; ++i)
    bonus += r[i] * k[i] * static_cast<Real>(in.bonus(h, static_cast<index>(i)));
  return difference(y, times(-bonus, v));
}

}  // namespace support
