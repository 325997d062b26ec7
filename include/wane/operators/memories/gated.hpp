// gated_memory: a keyed memory with a gate; base of all memories with a gate.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/gates/gate.hpp"
#include "wane/operators/parts/keyed.hpp"

namespace wane::impl {

template <class Io, any_gate Gate, class Accumulate>
class gated_memory : public keyed_memory<Io, Accumulate> {
  using keyed = keyed_memory<Io, Accumulate>;

 public:
  // Throws wane::error when the shapes do not fit, or an option is out of range.
  gated_memory(keyed_tensors<Io> const& in, Gate const& gate, keyed_options const& options)
      : keyed(in, options), gate_(gate) {}

  void check_inputs() const {
    keyed::check_inputs();
    check_gate(gate_, this->shape());
  }
  bool counts_positions() const { return wane::counts_positions(gate_); }
  void check_parameters() const { check_gate_parameters(gate_); }
  wane::layout layout() const { return keyed::layout() & layout_of_gate(gate_); }

  template <class Moved>
  WANE_HOST_DEVICE void move_tensors(Moved const& moved) {
    keyed::move_tensors(moved), move_gate(gate_, moved);
  }

  WANE_INLINE void each_row(place<> where, auto const& visit) const {
    keyed::each_row(where, visit);
    each_row_of_gate(gate_, where, visit);
  }

 protected:
  Gate gate_;
};

}  // namespace wane::impl
