// gated_delta_net: the delta rule over a memory that decays, one decay a token and head.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/delta_net.hpp"

namespace wane {

// S_t = e^{g_t} S_{t-1} + beta_t k_t (v_t - e^{g_t} k_t^T S_{t-1})^T,   y_t = scale S_t^T q_t
// (Yang, Kautz, Hatamizadeh 2025.)
//
//   wane::gated_delta_net const memory({.query = q, .key = k, .value = v, .strength = beta},
//                                      log_decay, {.normalise = true});
//   wane::run(memory, y);
//
// log_decay: g, [B, T, H], or a gate of heads
// (wane/operators/gates/gates.hpp). The state is [B, H, K, V].
template <class Io, head_gate Gate = token_view<Io const>, class Accumulate = widened<Io>>
class gated_delta_net : public delta_net<Io, Gate, Accumulate> {
 public:
  // Throws wane::error when the shapes do not fit, or an option is out of range.
  template <class Given = Gate>
  gated_delta_net(std::type_identity_t<delta_inputs<Io>> const& in, Given const& log_decay,
                  keyed_options const& options = {})
      : delta_net<Io, Gate, Accumulate>(in, impl::gate_from<Gate>(log_decay), options) {}
};

template <class Gate>
gated_delta_net(delta_inputs<impl::deduced_number<Gate>> const&, Gate const&,
                keyed_options const& = {})
    -> gated_delta_net<impl::deduced_number<Gate>,
                       impl::deduced_gate_of_heads<Gate, impl::deduced_number<Gate>>>;
template <class Io, impl::other_gate<Io> Gate>
gated_delta_net(delta_inputs<Io> const&, Gate const&, keyed_options const& = {})
    -> gated_delta_net<Io, impl::deduced_gate_of_heads<Gate, Io>>;

}  // namespace wane
