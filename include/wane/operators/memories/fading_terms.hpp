// fading_terms: the log decay of a token with its factor, for tokens that erase what has decayed.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/gradient.hpp"
#include "wane/core/recurrence/row_lanes.hpp"
#include "wane/operators/gates/gate.hpp"

namespace wane::impl {

// Terms read the state before its decay, so a token that erases what is left after the decay reads
// with factor(i) x_i. The factor of a head is found once; it is 1 for a token that erases before.
template <class Accumulate, class Gate>
struct fading_terms : gate_terms<Accumulate, Gate> {
  Accumulate head_factor = Accumulate(1);

  WANE_INLINE fading_terms(Gate const& of, place<> where)
      : gate_terms<Accumulate, Gate>(of, where) {
    if constexpr (head_gate<Gate>) head_factor = factor_of(decay_from_log(this->log_decay()));
  }
  WANE_INLINE fading_terms(Gate const& gate, place<> where,
                           bool after_decay) requires head_gate<Gate> : fading_terms(gate, where) {
    if (!after_decay) head_factor = Accumulate(1);
  }

  // e^g in row i.
  WANE_INLINE auto factor(auto i) const {
    if constexpr (row_gate<Gate>)
      return factor_of(decay_from_log(this->log_decay(i)));
    else
      return head_factor;
  }
  // The gradient of x_i, from that of factor(i) x_i. A reset reads nothing, so the gradient is 0
  // even where the product would be NaN.
  template <class Row>
  WANE_INLINE Row through_factor(auto i, Row gradient) const {
    Row const w(factor(i));
    return where_zero(w, Row(typename scalar_of_value<Row>::type(0)), w * gradient);
  }
};

// The gradient of the log decay of a token: what the runner found, and a sum over the rows that the
// token reads with their factor.
template <class Gate, class V>
struct decay_gradient {
  V whole;  // of the runner, in a gate of heads
  row_sum<V> of_head = {};

  // Row i: `own` is of the runner, x what is read with its factor, `read` from through_factor.
  template <class Row>
  WANE_INLINE void give(auto const& to, place<> where, auto i, Row own, Row x, Row read) {
    if constexpr (row_gate<Gate>)
      to.write(where, i, multiply_add(x, read, own));
    else
      of_head.add(x, read);
  }
  // After all rows.
  WANE_INLINE void give(auto const& to, place<> where) const {
    if constexpr (head_gate<Gate>) to.write(where, whole + of_head.total());
  }
};

}  // namespace wane::impl
