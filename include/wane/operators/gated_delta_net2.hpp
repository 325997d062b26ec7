// gated_delta_net2: the delta rule with a gate of the rows it erases and of the columns it writes.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/memories/fading_terms.hpp"
#include "wane/operators/memories/memory_with.hpp"

namespace wane {

// erase_gate, b: [B, T, G, K], and write_gate, w: [B, T, H, V]; the others as in keyed_inputs.
template <class Io>
struct gated_delta_net2_inputs {
  impl::by_name only = {};
  impl::named<"query", sequence_view<Io const>> query = {};
  impl::named<"key", sequence_view<Io const>> key = {};
  impl::named<"value", sequence_view<Io const>> value = {};
  impl::named<"erase_gate", sequence_view<Io const>> erase_gate = {};
  impl::named<"write_gate", sequence_view<Io const>> write_gate = {};
};

}  // namespace wane

namespace wane::impl {

template <class Io>
struct erase_and_write_gates {
  sequence_view<Io const> erase_gate, write_gate;
  WANE_INLINE static void each(auto& of, auto const& visit) {
    visit(of_rows(), "erase_gate", of.erase_gate);
    visit(of_columns(), "write_gate", of.write_gate);
  }
};

}  // namespace wane::impl

namespace wane {

// S_t = (I - k_t (b_t o k_t)^T) D S_{t-1} + k_t (w_t o v_t)^T,   D = diag(e^{g_t}),
// y_t = scale S_t^T q_t                         (Hatamizadeh, Choi, Kautz 2026, "Gated DeltaNet-2")
//
//   wane::gated_delta_net2 const memory(
//       {.query = q, .key = k, .value = v, .erase_gate = b, .write_gate = w}, log_decay);
//   wane::run(memory, y);
//
// With b and w the same number in all channels it is kimi_delta_attention. log_decay: g,
// [B, T, H, K] or [B, T, H], or a gate. The state is [B, H, K, V].
template <class Io, any_gate Gate = sequence_view<Io const>, class Accumulate = widened<Io>>
class gated_delta_net2
    : public impl::memory_with<impl::erase_and_write_gates<Io>, Io, Gate, Accumulate> {
  using keyed = impl::keyed_memory<Io, Accumulate>;
  using own = impl::erase_and_write_gates<Io>;

 public:
  // Throws wane::error when the shapes do not fit, or an option is out of range.
  template <class Given = Gate>
  gated_delta_net2(std::type_identity_t<gated_delta_net2_inputs<Io>> const& in,
                   Given const& log_decay, keyed_options const& options = {})
      : impl::memory_with<own, Io, Gate, Accumulate>(impl::keyed_tensors_of<Io>(in),
                                                     own{in.erase_gate, in.write_gate},
                                                     impl::gate_from<Gate>(log_decay), options) {}

  struct token : keyed::terms, impl::fading_terms<Accumulate, Gate> {
    using keyed::terms::where;
    gated_delta_net2 const& op;

    WANE_INLINE auto value(auto j) const {
      auto const v = keyed::terms::value(j);
      return multiply(v, convert<Accumulate>(op.own_.write_gate.read(where, j)));
    }
    WANE_INLINE auto erase_gate(auto i) const { return op.own_row(op.own_.erase_gate, where, i); }
    WANE_INLINE auto erase_read(auto i) const {
      auto const k = keyed::terms::key(i);
      return multiply(multiply(k, erase_gate(i)), decltype(k)(this->factor(i)));
    }
  };
  template <class Sums = own_sums>
  WANE_INLINE token at(place<> where, Sums const& sums = {}) const {
    return {this->terms_at(where, sums), {this->gate_, where}, *this};
  }

  // Any may be absent; log_decay has the shape of the gate.
  struct gradients {
    impl::by_name only = {};
    impl::named<"query", sequence_view<Io>> query = {};
    impl::named<"key", sequence_view<Io>> key = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::named<"erase_gate", sequence_view<Io>> erase_gate = {};
    impl::named<"write_gate", sequence_view<Io>> write_gate = {};
    impl::gate_gradient<Gate, Io> log_decay = {};

    void check(recurrence_shape const& shape) const {
      impl::check_gradients_with<own>(*this, shape);
    }
    wane::layout layout() const { return impl::layout_of_gradients_with<own>(*this); }

    struct sink {
      gradients const& to;
      gated_delta_net2 const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const {
        auto const x = op.terms_at(where);
        using V = decltype(g);
        to.value.write(where, j, g * V(convert<Accumulate>(op.own_.write_gate.read(where, j))));
        to.write_gate.write(where, j, g * V(x.value(j)));
      }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        token const x = op.at(where);
        impl::decay_gradient<Gate, V> by_decay{g.whole.decay};
        for_row_lanes<V>(g.in_lanes, g.rows, [&](auto i) WANE_INLINE_LAMBDA {
          auto const k = x.key(i), b = x.erase_gate(i);
          auto const read = x.through_factor(i, row_at(g.erase_read, i));
          to.erase_gate.write(where, i, k * read);
          by_decay.give(to.log_decay, where, i, row_at(g.decay, i), k * b, read);
          set_row(g.key, i, multiply_add(b, read, row_at(g.key, i)));
        });
        op.give_rows(x, to.query, to.key, g);
        by_decay.give(to.log_decay, where);
      }
    };
    WANE_INLINE sink at(gated_delta_net2 const& op, place<> where) const {
      return {*this, op, where};
    }
  };
};

template <class Gate>
gated_delta_net2(gated_delta_net2_inputs<impl::deduced_number<Gate>> const&, Gate const&,
                 keyed_options const& = {})
    -> gated_delta_net2<impl::deduced_number<Gate>, impl::deduced_gate<Gate>>;
template <class Io, impl::other_gate<Io> Gate>
gated_delta_net2(gated_delta_net2_inputs<Io> const&, Gate const&, keyed_options const& = {})
    -> gated_delta_net2<Io, impl::deduced_gate<Gate>>;

}  // namespace wane
