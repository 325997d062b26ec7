// VLA's Algorithm 1 as printed, token by token, with switches for its ablations.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "claims/vla_tokens.hpp"

namespace wane::bench {

struct vla_variant {
  double lambda = 0.1;
  double length = 1;  // |u|: equation (8)
  index period = 0;   // tokens from one refresh A += eta I to the next; 0: none
  double eta = 1e-3;
  bool adapts = true;       // or A stays I / lambda
  bool unit_keys = true;    // k / |k|
  bool unit_writes = true;  // alpha / |alpha|, or alpha
  double floor = 1e-4;      // of delta, and of what outputs are divided by
};
// Lines 1, 10 and 15: |u| is 1/sqrt(K), and there is a refresh.
inline vla_variant as_printed(index rows) {
  return {.length = 1 / std::sqrt(static_cast<double>(rows)), .period = 20};
}

// S is V x K here, as in the paper.
class vla_algorithm {
 public:
  matrix state, inverse;  // S, A
  vector key_sum;         // z
  double least_delta = std::numeric_limits<double>::infinity();
  vector key, write, error;  // of the last token: k, alpha and e, as they were used

  vla_algorithm(vla_variant const& variant, index rows, index columns)
      : state(matrix::Zero(columns, rows)),
        inverse(matrix::Identity(rows, rows) / variant.lambda),
        key_sum(vector::Zero(rows)),
        how_(variant) {}

  // features: elu(k) + 1; direction: W_u k.
  void take(vector const& features, vector const& direction, vector const& value) {
    ++tokens_;
    key = how_.unit_keys ? vector(features.normalized()) : features;
    if (how_.adapts) {
      vector const u = how_.length * direction.normalized(), z = inverse * u;
      double const delta = std::max(1 + u.dot(z), how_.floor);
      least_delta = std::min(least_delta, delta);
      inverse -= z * z.transpose() / delta;
      if (how_.period > 0 && tokens_ % how_.period == 0) inverse.diagonal().array() += how_.eta;
    }
    write = inverse * key;
    if (how_.unit_writes) write.normalize();
    error = value - state * key;
    state += error * write.transpose();
    key_sum += features;
  }
  // o of a query's features.
  vector read(vector const& query) const {
    return state * query / std::max(key_sum.dot(query), how_.floor);
  }
  // I - alpha k^T.
  matrix jacobian() const {
    return matrix::Identity(key.size(), key.size()) - write * key.transpose();
  }

 private:
  vla_variant how_;
  index tokens_ = 0;
};

// Of all tokens in turn; visit(algorithm, token) after each.
template <class Visit>
vla_algorithm after_all(vla_variant const& variant, matrix const& key, matrix const& direction,
                        matrix const& value, Visit const& visit) {
  vla_algorithm memory(variant, key.cols(), value.cols());
  for (index t = 0; t < key.rows(); ++t) {
    memory.take(key.row(t), direction.row(t), value.row(t));
    visit(memory, t);
  }
  return memory;
}
inline vla_algorithm after_all(vla_variant const& variant, matrix const& key,
                               matrix const& direction, matrix const& value) {
  return after_all(variant, key, direction, value, [](auto const&, index) {});
}
inline vla_algorithm after_all(vla_variant const& variant, vla_tokens const& x) {
  return after_all(variant, x.key, x.direction, x.value);
}

}  // namespace wane::bench
