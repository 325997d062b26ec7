// VLA as a loop over tokens that knows no factor: M itself, and its inverse by Eigen's LU.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Dense>

#include "wane/operators/vla.hpp"

namespace support {

using wane::index;
using wane::write_rule;

template <class Real>
struct vla_loop {
  using matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  using vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
  write_rule rule;
  wane::penalty_refresh refresh;
  matrix m, s;
  index position = 0;
  // What is left of lambda I, which is given back where that is less than `renewal`.
  Real lambda, left = 1, renewal = Real(.25);

  vla_loop(write_rule r, wane::penalty_refresh const& f, Real of_unit, index rows, index columns)
      : rule(r),
        refresh(f),
        m(of_unit * matrix::Identity(rows, rows)),
        s(matrix::Zero(rows, columns)),
        lambda(of_unit) {}

  static vector unit(vector const& x) { return x.norm() > Real(0) ? vector(x / x.norm()) : x; }

  void fade(Real penalty_decay, Real memory_decay) {
    m *= penalty_decay, left *= penalty_decay;
    s = memory_decay == Real(0) ? matrix::Zero(s.rows(), s.cols()) : matrix(memory_decay * s);
    if (left >= renewal) return;
    m.diagonal().array() += (1 - left) * lambda;
    left = 1;
  }
  // Of raw rows; queries, keys and directions are normalised here.
  vector take(vector const& query, vector const& key, vector const& direction,
              vector const& value) {
    vector const k = unit(key), u = unit(direction);
    m += u * u.transpose();
    if (refresh.every > 0 && ++position % refresh.every == 0) {
      matrix a = m.inverse();
      a.diagonal().array() += Real(refresh.amount);
      m = a.inverse();
      m = (m + m.transpose()).eval() / Real(2);
    }
    vector alpha = m.ldlt().solve(k);
    if (rule == write_rule::unit) alpha = unit(alpha);
    if (rule == write_rule::projective && k.norm() > Real(0)) alpha /= k.dot(alpha);
    s += alpha * (value - s.transpose() * k).transpose();
    return s.transpose() * unit(query);
  }
};

}  // namespace support
