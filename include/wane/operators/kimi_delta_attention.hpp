// kimi_delta_attention: the delta rule with a decay for each token and row.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/delta_net.hpp"

namespace wane {

// S_t = D S_{t-1} + beta_t k_t (v_t - k_t^T D S_{t-1})^T,   D = diag(e^{g_t}),
// y_t = scale S_t^T q_t                                                     (Kimi Team 2025)
//
//   wane::kimi_delta_attention const memory(
//       {.query = q, .key = k, .value = v, .strength = beta}, log_decay);
//   wane::run(memory, y);
//
// log_decay: g, [B, T, H, K], or a gate of rows. The state is
// [B, H, K, V].
template <class Io, row_gate Gate = sequence_view<Io const>, class Accumulate = widened<Io>>
class kimi_delta_attention : public delta_net<Io, Gate, Accumulate> {
 public:
  // Throws wane::error when the shapes do not fit, or an option is out of range.
  template <class Given = Gate>
  kimi_delta_attention(std::type_identity_t<delta_inputs<Io>> const& in, Given const& log_decay,
                       keyed_options const& options = {})
      : delta_net<Io, Gate, Accumulate>(in, impl::gate_from<Gate>(log_decay), options) {}
};

template <class Gate>
kimi_delta_attention(delta_inputs<impl::deduced_number<Gate>> const&, Gate const&,
                     keyed_options const& = {})
    -> kimi_delta_attention<impl::deduced_number<Gate>,
                            impl::deduced_gate_of_rows<Gate, impl::deduced_number<Gate>>>;
template <class Io, impl::other_gate<Io> Gate>
kimi_delta_attention(delta_inputs<Io> const&, Gate const&, keyed_options const& = {})
    -> kimi_delta_attention<Io, impl::deduced_gate_of_rows<Gate, Io>>;

}  // namespace wane
