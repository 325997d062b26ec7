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

  vla_loop(write_rule r, wane::penalty_refresh const& f, Real lambda, index rows, index columns)
      : rule(r),
        refresh(f),
        m(lambda * matrix::Identity(rows, rows)),
        s(matrix::Zero(rows, columns)) {}

  static vector unit(vector const& x) { return x.norm() > Real(0) ? vector(x / x.norm()) : x; }

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
