// kimi_delta_attention: the delta rule over a memory whose every row has a decay of its own.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/delta_net.hpp"

namespace wane {

// S_t = D S_{t-1} + beta_t k_t (v_t - k_t^T D S_{t-1})^T,   y_t = scale S_t^T q_t,   D =
// diag(e^{g_t}) (Kimi Team 2025.)
//
// strength: beta, [B, T, H]. log_decay: g, [B, T, H, K], or a gate of rows.
template <class Io, row_gate Gate = sequence_view<Io const>, class Accumulate = widened<Io>>
class kimi_delta_attention : public delta_net<Io, Gate, Accumulate> {
 public:
  // Throws wane::error when the shapes do not fit, or an option is out of range.
  kimi_delta_attention(keyed_inputs<Io> const& in, token_view<Io const> strength,
                       Gate const& log_decay, keyed_options const& options = {})
      : delta_net<Io, Gate, Accumulate>(in, strength, log_decay, options) {}
};

}  // namespace wane
