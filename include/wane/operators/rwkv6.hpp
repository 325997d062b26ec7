// rwkv6: RWKV-6, a memory with a decay for each row that is read before its decay, with a bonus.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/parameter_gradient.hpp"
#include "wane/operators/memories/memory_with.hpp"

namespace wane {

// query, the receptance r; key; value: as in keyed_inputs. bonus, u: [H, K], or absent.
template <class Io>
struct rwkv6_inputs {
  impl::by_name only = {};
  impl::named<"query", sequence_view<Io const>> query = {};
  impl::named<"key", sequence_view<Io const>> key = {};
  impl::named<"value", sequence_view<Io const>> value = {};
  impl::named<"bonus", view<widened<Io> const, 2>> bonus = {};
};

}  // namespace wane

namespace wane::impl {

template <class Io>
struct bonus_of {
  view<widened<Io> const, 2> bonus;
  WANE_INLINE static void each(auto& of, auto const& visit) {
    visit(of_heads(), "bonus", of.bonus);
  }
};

}  // namespace wane::impl

namespace wane {

// y_t = scale (S_{t-1} + (u o k_t) v_t^T)^T r_t,   S_t = diag(e^{g_t}) S_{t-1} + k_t v_t^T
// (Peng et al. 2024, "Eagle and Finch", equation 19; g is the log of their w, <= 0.)
//
//   wane::rwkv6 const memory({.query = r, .key = k, .value = v, .bonus = {u, H, K}}, log_decay);
//   wane::run(memory, y);
//
// A token reads the state as the last token left it, so its decay does not touch its own output.
// log_decay: g, [B, T, H, K], or a gate of rows. The scale is 1 if absent. The state is
// [B, H, K, V].
template <class Io, row_gate Gate = sequence_view<Io const>, class Accumulate = widened<Io>>
class rwkv6 : public impl::memory_with<impl::bonus_of<Io>, Io, Gate, Accumulate> {
  using keyed = impl::keyed_memory<Io, Accumulate>;
  using own = impl::bonus_of<Io>;

 public:
  // Throws wane::error when the shapes do not fit, or an option is out of range.
  template <class Given = Gate>
  rwkv6(std::type_identity_t<rwkv6_inputs<Io>> const& in, Given const& log_decay,
        keyed_options const& options = {})
      : impl::memory_with<own, Io, Gate, Accumulate>(impl::keyed_tensors_of<Io>(in), own{in.bonus},
                                                     impl::gate_from<Gate>(log_decay),
                                                     impl::with_scale_or_one(options)) {}

  struct token : keyed::terms, impl::gate_terms<Accumulate, Gate> {
    static constexpr bool reads_before_decay = true;
    using keyed::terms::where;
    Accumulate bonus;

    WANE_INLINE Accumulate direct() const { return bonus; }
  };
  template <class Sums = own_sums>
  WANE_INLINE token at(place<> where, Sums const& sums = {}) const {
    token x{this->terms_at(where, sums), {this->gate_, where}, Accumulate(0)};
    if (this->own_.bonus.data)
      x.bonus = sums.template dot<Accumulate>(
          std::false_type{}, this->own_.bonus.extent[1],
          [&](index i) WANE_INLINE_LAMBDA { return x.query(i); },
          [&](index i) WANE_INLINE_LAMBDA { return bonus_at(where, i) * x.key(i); });
    return x;
  }

  // Any may be absent; log_decay has the shape of the gate.
  struct gradients {
    impl::by_name only = {};
    impl::named<"query", sequence_view<Io>> query = {};
    impl::named<"key", sequence_view<Io>> key = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::parameter_gradient<"bonus", view<widened<Io>, 2>, sequence_view<Accumulate>> bonus = {};
    impl::gate_gradient<Gate, Io> log_decay = {};

    void check(recurrence_shape const& shape) const {
      impl::check_gradients_with<own>(*this, shape);
    }
    wane::layout layout() const { return impl::layout_of_gradients_with<own>(*this); }
    static void each_parameter(auto& of, recurrence_shape const& shape, auto const& visit) {
      visit(of.bonus, shape.heads, shape.rows);
    }

    struct sink {
      gradients const& to;
      rwkv6 const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const { to.value.write(where, j, g); }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        auto const x = op.terms_at(where);
        bool const has = op.own_.bonus.data != nullptr;  // without one the gradient is that at 0
        for (index i = 0; i < g.rows; ++i) {
          to.log_decay.write(where, i, g.decay[i]);
          V const q = x.query(i), k = x.key(i), u = has ? op.bonus_at(where, i) : V(0);
          to.bonus.parts.write(where, i, g.whole.direct * q * k);
          g.key[i] = multiply_add(g.whole.direct, q * u, g.key[i]);
          g.query[i] = multiply_add(g.whole.direct, u * k, g.query[i]);
        }
        op.give_rows(x, to.query, to.key, g);
      }
    };
    WANE_INLINE sink at(rwkv6 const& op, place<> where) const {
      impl::require_lent(bonus);
      return {*this, op, where};
    }
  };

 private:
  WANE_INLINE Accumulate bonus_at(place<> where, index i) const {
    return static_cast<Accumulate>(this->own_.bonus(where.head, i));
  }
};

template <class Gate>
rwkv6(rwkv6_inputs<impl::deduced_number<Gate>> const&, Gate const&, keyed_options const& = {})
    -> rwkv6<impl::deduced_number<Gate>,
             impl::deduced_gate_of_rows<Gate, impl::deduced_number<Gate>>>;
template <class Io, impl::other_gate<Io> Gate>
rwkv6(rwkv6_inputs<Io> const&, Gate const&, keyed_options const& = {})
    -> rwkv6<Io, impl::deduced_gate_of_rows<Gate, Io>>;

}  // namespace wane
