// retnet: linear attention with a constant decay for each head.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/gates/gates.hpp"
#include "wane/operators/gla.hpp"

namespace wane {

// S_t = gamma_h S_{t-1} + k_t v_t^T,   y_t = scale S_t^T q_t
// (Sun et al. 2023, eq. 6, without its rotation and group norm. VORT's power-law retention is
// `retention`.)
//
//   wane::retnet<float> const memory({.query = q, .key = k, .value = v}, {log_gamma, H});
//   wane::run(memory, y);
//
// log_decay: log gamma, [H], which makes a constant_gate, or another gate of heads. The state is
// [B, H, K, V].
template <class Io, head_gate Gate = constant_gate<widened<Io>>, class Accumulate = widened<Io>>
class retnet : public gla<Io, Gate, Accumulate> {
 public:
  // Throws wane::error when the shapes do not fit, or an option is out of range.
  template <class Given = Gate>
  retnet(std::type_identity_t<keyed_inputs<Io>> const& in, Given const& log_decay,
         keyed_options const& options = {})
      : gla<Io, Gate, Accumulate>(in, impl::gate_from<Gate>(log_decay), options) {}
  retnet(std::type_identity_t<keyed_inputs<Io>> const& in,
         gate_parameter<widened<Io> const> const& log_decay,
         keyed_options const& options = {}) requires std::same_as<Gate, constant_gate<widened<Io>>>
      : retnet(in, Gate(log_decay), options) {}
};

template <class Gate>
retnet(keyed_inputs<impl::deduced_number<Gate>> const&, Gate const&, keyed_options const& = {})
    -> retnet<impl::deduced_number<Gate>,
              impl::deduced_gate_of_heads<Gate, impl::deduced_number<Gate>>>;
template <class Io, impl::other_gate<Io> Gate>
retnet(keyed_inputs<Io> const&, Gate const&, keyed_options const& = {})
    -> retnet<Io, impl::deduced_gate_of_heads<Gate, Io>>;

}  // namespace wane
