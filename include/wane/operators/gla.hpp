// gla: gated linear attention, with a decay for each token and head or each token and row.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/gates/gated.hpp"

namespace wane {

// S_t = diag(e^{g_t}) S_{t-1} + k_t v_t^T,   y_t = scale S_t^T q_t
// (Yang et al. 2024; with a decay for each head it is the memory of Mamba-2 and simple GLA.)
//
//   wane::gla<float> const memory({q, k, v}, log_decay);
//   wane::run(memory, y);
//
// log_decay: g, [B, T, H, K] for rows or [B, T, H] for heads, or a gate
// (wane/operators/gates/gates.hpp). The state is [B, H, K, V].
template <class Io, any_gate Gate = sequence_view<Io const>, class Accumulate = widened<Io>>
class gla : public impl::gated_memory<Io, Gate, Accumulate> {
  using keyed = impl::keyed_memory<Io, Accumulate>;

 public:
  // Throws wane::error when the shapes do not fit, or an option is out of range.
  gla(keyed_inputs<Io> const& in, Gate const& log_decay, keyed_options const& options = {})
      : impl::gated_memory<Io, Gate, Accumulate>(in, log_decay, options) {}

  struct token : keyed::terms, impl::gate_terms<Accumulate, Gate> {
    using keyed::terms::where;
  };
  template <class Sums = own_sums>
  WANE_INLINE token at(place<> where, Sums const& sums = {}) const {
    return {this->terms_at(where, sums), {this->gate_, where}};
  }

  // Any may be absent; log_decay has the shape of the gate.
  struct gradients {
    keyed_gradients<Io> in;
    impl::gate_gradient<Gate, Io> log_decay;

    void check(recurrence_shape const& shape) const {
      impl::check_keyed(in, shape);
      impl::check_gate_gradient(log_decay, shape);
    }
    wane::layout layout() const { return in.layout() & impl::layout_of_gate(log_decay); }

    struct sink {
      gradients const& to;
      gla const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const { to.in.value.write(where, j, g); }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        op.give_terms(where, to.in, to.log_decay, g);
      }
    };
    WANE_INLINE sink at(gla const& op, place<> where) const { return {*this, op, where}; }
  };

 protected:
  // From the gradients of the terms of a token to those of queries, keys and log decays.
  template <class V>
  WANE_INLINE void give_terms(place<> where, keyed_gradients<Io> const& in,
                              impl::gate_gradient<Gate, Io> const& log_decay,
                              all_gradients<V> const& g) const {
    this->give_rows(this->terms_at(where), in, g);
    if constexpr (row_gate<Gate>)
      for_row_lanes<V>(g.in_lanes, g.rows, [&](auto i) WANE_INLINE_LAMBDA {
        log_decay.write(where, i, row_at(g.decay, i));
      });
    else if constexpr (head_gate<Gate>)
      log_decay.write(where, g.whole.decay);
  }
};

}  // namespace wane
