// gla: gated linear attention, with a decay for each token and head or each token and row.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/memories/gated.hpp"

namespace wane {

// S_t = diag(e^{g_t}) S_{t-1} + k_t v_t^T,   y_t = scale S_t^T q_t
// (Yang et al. 2024; with a decay for each head it is the memory of Mamba-2 and simple GLA.)
//
//   wane::gla const memory({.query = q, .key = k, .value = v}, log_decay);
//   wane::run(memory, y);
//
// log_decay: g, [B, T, H, K] for rows or [B, T, H] for heads, or a gate
// (wane/operators/gates/gates.hpp). The state is [B, H, K, V].
template <class Io, any_gate Gate = sequence_view<Io const>, class Accumulate = widened<Io>>
class gla : public impl::gated_memory<Io, Gate, Accumulate> {
  using keyed = impl::keyed_memory<Io, Accumulate>;

 public:
  // Throws wane::error when the shapes do not fit, or an option is out of range.
  template <class Given = Gate>
  gla(std::type_identity_t<keyed_inputs<Io>> const& in, Given const& log_decay,
      keyed_options const& options = {})
      : impl::gated_memory<Io, Gate, Accumulate>(impl::keyed_tensors_of<Io>(in),
                                                 impl::gate_from<Gate>(log_decay), options) {}

  struct token : keyed::terms, impl::gate_terms<Accumulate, Gate> {
    using keyed::terms::where;
  };
  template <class Sums = own_sums>
  WANE_INLINE token at(place<> where, Sums const& sums = {}) const {
    return {this->terms_at(where, sums), {this->gate_, where}};
  }

  // Any may be absent; log_decay has the shape of the gate.
  struct gradients {
    impl::by_name only = {};
    impl::named<"query", sequence_view<Io>> query = {};
    impl::named<"key", sequence_view<Io>> key = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::gate_gradient<Gate, Io> log_decay = {};

    void check(recurrence_shape const& shape) const {
      impl::check_keyed(*this, shape);
      impl::check_gate_gradient(log_decay, shape);
    }
    wane::layout layout() const {
      return layout_of(query, key, value) & impl::layout_of_gate(log_decay);
    }

    struct sink {
      gradients const& to;
      gla const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const { to.value.write(where, j, g); }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        op.give_terms(where, to, g);
      }
    };
    WANE_INLINE sink at(gla const& op, place<> where) const { return {*this, op, where}; }
  };

 protected:
  // From the gradients of the terms of a token to those of queries, keys and log decays.
  template <class V>
  WANE_INLINE void give_terms(place<> where, auto const& to, all_gradients<V> const& g) const {
    this->give_rows(this->terms_at(where), to.query, to.key, g);
    if constexpr (row_gate<Gate>)
      for_row_lanes<V>(g.in_lanes, g.rows, [&](auto i) WANE_INLINE_LAMBDA {
        to.log_decay.write(where, i, row_at(g.decay, i));
      });
    else if constexpr (head_gate<Gate>)
      to.log_decay.write(where, g.whole.decay);
  }
};

template <class Gate>
gla(keyed_inputs<impl::deduced_number<Gate>> const&, Gate const&, keyed_options const& = {})
    -> gla<impl::deduced_number<Gate>, impl::deduced_gate<Gate>>;
template <class Io, impl::other_gate<Io> Gate>
gla(keyed_inputs<Io> const&, Gate const&, keyed_options const& = {})
    -> gla<Io, impl::deduced_gate<Gate>>;

}  // namespace wane
