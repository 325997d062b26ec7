// What the memories whose gates decide more than decays compute, from the papers' formulas.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/naive_memories.hpp"

namespace support {

// HGRN2 (Qin et al. 2024, their state transposed): S <- diag(f) S + (1 - f) v^T, o = S^T q,
// f = e^g. naive_inputs have the query as key too, for its rows. One token into S; returns its
// output.
template <class Real, class Io>
numbers<Real> naive_hgrn2(naive_inputs<Io> const& in, naive_state<Real>& s, index b, index t,
                          index h) {
  using std::expm1;
  auto const g = in.template decay<Real>(b, t, h);
  numbers<Real> k;
  for (Real const& each : g) k.push_back(-expm1(each));
  s.fade(g);
  s.write(k, in.template row<Real>(in.value, b, t, h));
  return s.read(times(Real(in.scale), in.template direction<Real>(in.query, b, t, h)));
}

// Lightning attention (Qin et al. 2024) with the decays of flash-linear-attention's
// chunk_lightning_attn: S <- lambda S + k v^T, o = S^T q,
// log lambda = -(8 / H (1 - layer / layers)) h.
template <class Real, class Io>
numbers<Real> naive_lightning(naive_inputs<Io> const& in, naive_state<Real>& s, index b, index t,
                              index h, index layer, index layers) {
  Real const heads(static_cast<double>(in.value.extent[2])),
      left(static_cast<double>(layers - layer)), all(static_cast<double>(layers));
  s.fade(numbers<Real>(s.rows, -(Real(8) / heads * left / all) * Real(static_cast<double>(h))));
  s.write(in.template direction<Real>(in.key, b, t, h), in.template row<Real>(in.value, b, t, h));
  return s.read(times(Real(in.scale), in.template direction<Real>(in.query, b, t, h)));
}

// Longhorn (Liu et al. 2024; the step of the paper's code): with e_j = beta_j / (1 + beta_j |k|^2),
// s_ij <- (1 - e_j k_i^2) s_ij + e_j k_i x_j, y_j = sum_i q_i s_ij + D_j x_j. beta is what
// naive_inputs calls `rate`, of V channels; direct(h, j) is D.
template <class Real, class Io>
numbers<Real> naive_longhorn(naive_inputs<Io> const& in, naive_state<Real>& s, index b, index t,
                             index h, auto const& direct) {
  auto const q = in.template row<Real>(in.query, b, t, h),
             k = in.template row<Real>(in.key, b, t, h),
             x = in.template row<Real>(in.value, b, t, h),
             beta = in.template row<Real>(in.rate, b, t, h);
  numbers<Real> y;
  for (std::size_t j = 0; j < s.columns; ++j) {
    Real const step = beta[j] / (Real(1) + beta[j] * dot(k, k));
    y.push_back(Real(direct(h, static_cast<index>(j))) * x[j]);
    for (std::size_t i = 0; i < s.rows; ++i) {
      Real& each = s.s[i * s.columns + j];
      each = (Real(1) - step * k[i] * k[i]) * each + step * k[i] * x[j];
      y[j] += q[i] * each;
    }
  }
  return y;
}

}  // namespace support
