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

}  // namespace support
