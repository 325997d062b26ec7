// The states of wane's memories after given tokens, for the claims of VLA.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <utility>

#include "claims/vla_tokens.hpp"
#include "wane/operators/delta_net.hpp"
#include "wane/operators/vla.hpp"
#include "wane/run/run.hpp"

namespace wane::bench {

struct held_memory {
  matrix state;   // S, K x V
  matrix factor;  // R of M = R^T R; empty where there is none
  matrix output;  // y, a token a row

  // Reads the memory with every row of `key`. Rows have length 1.
  matrix recalled(matrix const& key) const { return key * state; }
};

template <class Op>
held_memory held_after(Op const& op, index columns) {
  using rows_of_numbers = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  recurrence_shape const shape = op.shape();
  held_memory held{{}, {}, matrix(shape.time, columns)};
  recurrent_state<double> state(op);
  run(op, as_sequence(held.output), run_options<double>{.final = state});
  Eigen::Map<rows_of_numbers const> const all(state.values().data(), shape.rows, shape.columns);
  held.state = all.leftCols(columns);
  held.factor = all.rightCols(shape.columns - columns);
  return held;
}

// vla, keys normalised; directions are the keys where none are given.
template <write_rule Rule>
held_memory held_by_vla(matrix const& key, matrix const& value, vla_options const& options,
                        matrix const& query, matrix const& direction = {}) {
  vla_inputs<double> in{
      .query = as_sequence(query), .key = as_sequence(key), .value = as_sequence(value)};
  if (direction.size()) in.direction = as_sequence(direction);
  return held_after(vla<double, Rule>(in, options), value.cols());
}
template <write_rule Rule>
held_memory held_by_vla(matrix const& key, matrix const& value, double lambda) {
  return held_by_vla<Rule>(key, value, {.lambda = lambda}, key);
}
// delta_net of strength 1, keys normalised.
inline held_memory held_by_delta_net(matrix const& key, matrix const& value) {
  vector const strength = vector::Ones(key.rows());
  return held_after(delta_net<double>({.query = as_sequence(key),
                                       .key = as_sequence(key),
                                       .value = as_sequence(value),
                                       .strength = {strength.data(), 1, key.rows(), 1}},
                                      {.scale = 1, .normalise = true, .epsilon = 1e-12}),
                    value.cols());
}

}  // namespace wane::bench
