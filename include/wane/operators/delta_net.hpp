// delta_net: the delta rule, which replaces the value under a key, without decay or with a gate.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/memories/fading_terms.hpp"
#include "wane/operators/memories/memory_with.hpp"

namespace wane {

// strength: beta, [B, T, H], in [0, 2]; the others as in keyed_inputs.
template <class Io>
struct delta_inputs {
  impl::by_name only = {};
  impl::named<"query", sequence_view<Io const>> query = {};
  impl::named<"key", sequence_view<Io const>> key = {};
  impl::named<"value", sequence_view<Io const>> value = {};
  impl::named<"strength", token_view<Io const>> strength = {};
};

// S_t = D S_{t-1} + beta_t k_t (v_t - k_t^T D S_{t-1})^T,   y_t = scale S_t^T q_t,   D = diag(e^g)
//
//   wane::delta_net<float> const memory({.query = q, .key = k, .value = v, .strength = beta},
//                                       {.normalise = true});
//   wane::run(memory, y);
//
// The gate may be absent (no_gate), of heads or of rows. The state is [B, H, K, V].
template <class Io, any_gate Gate = no_gate, class Accumulate = widened<Io>>
class delta_net : public impl::memory_with<impl::strength_of<Io>, Io, Gate, Accumulate> {
  using keyed = impl::keyed_memory<Io, Accumulate>;
  using own = impl::strength_of<Io>;

 public:
  // Throws wane::error when the shapes do not fit, or an option is out of range.
  explicit delta_net(std::type_identity_t<delta_inputs<Io>> const& in,
                     keyed_options const& options = {}) requires std::same_as<Gate, no_gate>
      : delta_net(in, no_gate(), options) {}
  // A template, so that {} as second argument means options.
  template <class Given = Gate>
  delta_net(std::type_identity_t<delta_inputs<Io>> const& in, Given const& gate,
            keyed_options const& options = {})
      : impl::memory_with<own, Io, Gate, Accumulate>(impl::keyed_tensors_of<Io>(in),
                                                     own{in.strength}, impl::gate_from<Gate>(gate),
                                                     options) {}

  struct token : keyed::terms, impl::fading_terms<Accumulate, Gate> {
    using keyed::terms::where;
    Accumulate strength;

    WANE_INLINE auto key(auto i) const {
      auto const k = keyed::terms::key(i);
      return multiply(k, decltype(k)(strength));
    }
    WANE_INLINE auto erase_read(auto i) const {
      auto const k = keyed::terms::key(i);
      return multiply(k, decltype(k)(this->factor(i)));
    }
  };
  template <class Sums = own_sums>
  WANE_INLINE token at(place<> where, Sums const& sums = {}) const {
    return {this->terms_at(where, sums),
            {this->gate_, where},
            static_cast<Accumulate>(this->own_.strength.read(where))};
  }

  // Any may be absent; log_decay has the shape of the gate.
  struct gradients {
    impl::by_name only = {};
    impl::named<"query", sequence_view<Io>> query = {};
    impl::named<"key", sequence_view<Io>> key = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::named<"strength", token_view<Io>> strength = {};
    impl::gate_gradient<Gate, Io> log_decay = {};

    void check(recurrence_shape const& shape) const {
      impl::check_gradients_with<own>(*this, shape);
    }
    wane::layout layout() const { return impl::layout_of_gradients_with<own>(*this); }

    struct sink {
      gradients const& to;
      delta_net const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const { to.value.write(where, j, g); }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        token const x = op.at(where);
        impl::decay_gradient<Gate, V> by_decay{g.whole.decay};
        row_sum<V> by_strength;
        for_row_lanes<V>(g.in_lanes, g.rows, [&](auto i) WANE_INLINE_LAMBDA {
          auto const k = x.keyed::terms::key(i), by_key = row_at(g.key, i);
          using Row = std::remove_const_t<decltype(k)>;
          Row const read = x.through_factor(i, row_at(g.erase_read, i));
          by_strength.add(k, by_key);
          by_decay.give(to.log_decay, where, i, row_at(g.decay, i), k, read);
          set_row(g.key, i, multiply_add(Row(x.strength), by_key, read));
        });
        op.give_rows(x, to.query, to.key, g);
        to.strength.write(where, by_strength.total());
        by_decay.give(to.log_decay, where);
      }
    };
    WANE_INLINE sink at(delta_net const& op, place<> where) const { return {*this, op, where}; }
  };
};

template <class Gate>
delta_net(delta_inputs<impl::deduced_number<Gate>> const&, Gate const&, keyed_options const& = {})
    -> delta_net<impl::deduced_number<Gate>, impl::deduced_gate<Gate>>;
template <class Io, impl::other_gate<Io> Gate>
delta_net(delta_inputs<Io> const&, Gate const&, keyed_options const& = {})
    -> delta_net<Io, impl::deduced_gate<Gate>>;

}  // namespace wane
