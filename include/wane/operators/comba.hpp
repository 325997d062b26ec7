// comba: the delta rule with a key of its own to erase with, before the decay or after it.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/memories/fading_terms.hpp"
#include "wane/operators/memories/memory_with.hpp"

namespace wane {

// removal, p: [B, T, G, K]; strength, beta: [B, T, H]; the others as in keyed_inputs.
template <class Io>
struct comba_inputs {
  impl::by_name only = {};
  impl::named<"query", sequence_view<Io const>> query = {};
  impl::named<"key", sequence_view<Io const>> key = {};
  impl::named<"value", sequence_view<Io const>> value = {};
  impl::named<"removal", sequence_view<Io const>> removal = {};
  impl::named<"strength", token_view<Io const>> strength = {};
};

}  // namespace wane

namespace wane::impl {

template <class Io>
struct comba_tensors {
  sequence_view<Io const> removal;
  token_view<Io const> strength;
  WANE_INLINE static void each(auto& of, auto const& visit) {
    visit(of_rows(), "removal", of.removal), visit(of_tokens(), "strength", of.strength);
  }
};

}  // namespace wane::impl

namespace wane {

// Whether a token erases what it finds before its decay or after it.
enum class erases { before_decay, after_decay };

struct comba_options {
  keyed_options keys = {};
  wane::erases erases = wane::erases::before_decay;
};

// S_t = e^{g_t} S_{t-1} + beta_t k_t (v_t - p_t^T S_{t-1})^T,   y_t = scale S_t^T q_t
// (Hu et al. 2025, "Comba"; their output correction, q - D k, is made before.) With
// erases::after_decay p_t reads e^{g_t} S_{t-1}, as flash-linear-attention's reference does; its
// kernels do what the paper says (docs/errata.md).
//
//   wane::comba const memory(
//       {.query = q, .key = k, .value = v, .removal = p, .strength = beta}, log_decay);
//   wane::run(memory, y);
//
// log_decay: g, [B, T, H], or a gate of heads. options.keys.normalise normalises p too. The state
// is [B, H, K, V].
template <class Io, head_gate Gate = token_view<Io const>, class Accumulate = widened<Io>>
class comba : public impl::memory_with<impl::comba_tensors<Io>, Io, Gate, Accumulate> {
  using keyed = impl::keyed_memory<Io, Accumulate>;
  using own = impl::comba_tensors<Io>;

 public:
  // Throws wane::error when the shapes do not fit, or an option is out of range.
  template <class Given = Gate>
  comba(std::type_identity_t<comba_inputs<Io>> const& in, Given const& log_decay,
        comba_options const& options = {})
      : impl::memory_with<own, Io, Gate, Accumulate>(
            impl::keyed_tensors_of<Io>(in), own{in.removal, in.strength},
            impl::gate_from<Gate>(log_decay), options.keys),
        after_decay_(options.erases == erases::after_decay) {}

  struct token : keyed::terms, impl::fading_terms<Accumulate, Gate> {
    using keyed::terms::where;
    comba const& op;
    Accumulate removal_factor, strength;

    WANE_INLINE auto key(auto i) const {
      auto const k = keyed::terms::key(i);
      return multiply(k, decltype(k)(strength));
    }
    WANE_INLINE auto removal(auto i) const {
      auto const p = op.own_row(op.own_.removal, where, i);
      return multiply(p, decltype(p)(removal_factor));
    }
    WANE_INLINE auto erase_read(auto i) const {
      auto const p = removal(i);
      return multiply(p, decltype(p)(this->factor(i)));
    }
  };
  template <class Sums = own_sums>
  WANE_INLINE token at(place<> where, Sums const& sums = {}) const {
    auto const& own_of = this->own_;
    return {this->terms_at(where, sums),
            {this->gate_, where, after_decay_},
            *this,
            this->length_factor(own_of.removal, this->shared_of(where), sums),
            static_cast<Accumulate>(own_of.strength.read(where))};
  }

  // Any may be absent; log_decay has the shape of the gate.
  struct gradients {
    impl::by_name only = {};
    impl::named<"query", sequence_view<Io>> query = {};
    impl::named<"key", sequence_view<Io>> key = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::named<"removal", sequence_view<Io>> removal = {};
    impl::named<"strength", token_view<Io>> strength = {};
    impl::gate_gradient<Gate, Io> log_decay = {};

    void check(recurrence_shape const& shape) const {
      impl::check_gradients_with<own>(*this, shape);
    }
    wane::layout layout() const { return impl::layout_of_gradients_with<own>(*this); }

    struct sink {
      gradients const& to;
      comba const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const { to.value.write(where, j, g); }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        token const x = op.at(where);
        impl::decay_gradient<Gate, V> by_decay{g.whole.decay};
        row_sum<V> by_strength;
        for_row_lanes<V>(g.in_lanes, g.rows, [&](auto i) WANE_INLINE_LAMBDA {
          auto const by_key = row_at(g.key, i);
          auto const read = x.through_factor(i, row_at(g.erase_read, i));
          if (op.after_decay_) by_decay.give(to.log_decay, where, i, read, x.removal(i), read);
          set_row(g.erase_read, i, read);
          by_strength.add(x.keyed::terms::key(i), by_key);
          set_row(g.key, i, std::remove_const_t<decltype(by_key)>(x.strength) * by_key);
        });
        op.give_rows(x, to.query, to.key, g);
        op.give_row(x.shared(), where, op.own_.removal, to.removal, g.erase_read, g.in_lanes,
                    x.removal_factor);
        to.strength.write(where, by_strength.total());
        by_decay.give(to.log_decay, where);
      }
    };
    WANE_INLINE sink at(comba const& op, place<> where) const { return {*this, op, where}; }
  };

 private:
  bool after_decay_;
};

template <class Gate>
comba(comba_inputs<impl::deduced_number<Gate>> const&, Gate const&, comba_options const& = {})
    -> comba<impl::deduced_number<Gate>,
             impl::deduced_gate_of_heads<Gate, impl::deduced_number<Gate>>>;
template <class Io, impl::other_gate<Io> Gate>
comba(comba_inputs<Io> const&, Gate const&, comba_options const& = {})
    -> comba<Io, impl::deduced_gate_of_heads<Gate, Io>>;

}  // namespace wane
