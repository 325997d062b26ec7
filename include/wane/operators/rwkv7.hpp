// rwkv7: RWKV-7, a memory with a decay for each row that erases along one key and writes another.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/parameter_gradient.hpp"
#include "wane/operators/memories/memory_with.hpp"

namespace wane {

// query, the receptance r; key, the replacement key k; value v: as in keyed_inputs. removal, the
// removal key c, and rate, the learning rate a: [B, T, G, K]. bonus, rho: [H, K], or absent.
template <class Io>
struct rwkv7_inputs {
  impl::by_name only = {};
  impl::named<"query", sequence_view<Io const>> query = {};
  impl::named<"key", sequence_view<Io const>> key = {};
  impl::named<"value", sequence_view<Io const>> value = {};
  impl::named<"removal", sequence_view<Io const>> removal = {};
  impl::named<"rate", sequence_view<Io const>> rate = {};
  impl::named<"bonus", view<widened<Io> const, 2>> bonus = {};
};

}  // namespace wane

namespace wane::impl {

template <class Io>
struct rwkv7_tensors {
  sequence_view<Io const> removal, rate;
  view<widened<Io> const, 2> bonus;
  WANE_INLINE static void each(auto& of, auto const& visit) {
    visit(of_rows(), "removal", of.removal), visit(of_rows(), "rate", of.rate);
    visit(of_heads(), "bonus", of.bonus);
  }
};

}  // namespace wane::impl

namespace wane {

// S_t = diag(e^{g_t}) S_{t-1} - (a_t o c_t) (c_t^T S_{t-1}) + k_t v_t^T
// y_t = S_t^T r_t + (r_t . (rho o k_t)) v_t
// (Peng et al. 2025: c is the removal key, kappa hat; a the in-context learning rate; k the
// replacement key; rho the bonus.)
//
//   wane::rwkv7 const memory({.query = r, .key = k, .value = v, .removal = c, .rate = a,
//                             .bonus = {rho, H, K}}, log_decay, {.normalise = true});
//   wane::run(memory, y);
//
// log_decay: g, [B, T, H, K], or a gate of rows. options.normalise normalises c, but not r and k.
// The scale, 1 if absent, multiplies y without the bonus. The state is [B, H, K, V].
template <class Io, row_gate Gate = sequence_view<Io const>, class Accumulate = widened<Io>>
class rwkv7 : public impl::memory_with<impl::rwkv7_tensors<Io>, Io, Gate, Accumulate> {
  using keyed = impl::keyed_memory<Io, Accumulate>;
  using own = impl::rwkv7_tensors<Io>;
  using base = impl::memory_with<own, Io, Gate, Accumulate>;

 public:
  // Throws wane::error when the shapes do not fit, or an option is out of range.
  template <class Given = Gate>
  rwkv7(std::type_identity_t<rwkv7_inputs<Io>> const& in, Given const& log_decay,
        keyed_options const& options = {})
      : base(impl::keyed_tensors_of<Io>(in), {in.removal, in.rate, in.bonus},
             impl::gate_from<Gate>(log_decay), without_normalising(options)),
        removal_({in.removal, in.removal, in.value}, of_removal(options)) {}

  template <class Moved>
  WANE_HOST_DEVICE void move_tensors(Moved const& moved) {
    base::move_tensors(moved), removal_.move_rows(moved);
  }

  struct token : keyed::terms, impl::gate_terms<Accumulate, Gate> {
    using keyed::terms::where;
    typename keyed::terms removal;
    rwkv7 const& op;
    Accumulate bonus;

    WANE_INLINE auto erase_read(auto i) const { return -removal.key(i); }
    WANE_INLINE auto erase_write(auto i) const {
      auto const c = removal.key(i);
      return multiply(c, rate(i));
    }
    WANE_INLINE auto rate(auto i) const { return op.own_row(op.own_.rate, where, i); }
    WANE_INLINE Accumulate direct() const { return bonus; }
  };
  template <class Sums = own_sums>
  WANE_INLINE token at(place<> where, Sums const& sums = {}) const {
    token x{this->terms_at(where, sums),
            {this->gate_, where},
            removal_.terms_at(where, sums),
            *this,
            Accumulate(0)};
    if (this->own_.bonus.data)
      x.bonus = sums.template dot<Accumulate>(
          std::false_type{}, this->own_.bonus.extent[1],
          [&](index i) WANE_INLINE_LAMBDA { return raw_query(x, i); },
          [&](index i) WANE_INLINE_LAMBDA { return bonus_at(where, i) * x.key(i); });
    return x;
  }

  // Any may be absent; log_decay has the shape of the gate.
  struct gradients {
    impl::by_name only = {};
    impl::named<"query", sequence_view<Io>> query = {};
    impl::named<"key", sequence_view<Io>> key = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::named<"removal", sequence_view<Io>> removal = {};
    impl::named<"rate", sequence_view<Io>> rate = {};
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
      rwkv7 const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const { to.value.write(where, j, g); }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        token const x = op.at(where);
        for_row_lanes<V>(g.in_lanes, g.rows, [&](auto i) WANE_INLINE_LAMBDA {
          auto const c = x.removal.key(i), by_write = row_at(g.erase_write, i);
          to.log_decay.write(where, i, row_at(g.decay, i));
          to.rate.write(where, i, c * by_write);
          set_row(g.erase_read, i, multiply_add(x.rate(i), by_write, -row_at(g.erase_read, i)));
        });
        V const direct = g.whole.direct;
        bool const has = op.own_.bonus.data != nullptr;  // without one the gradient is that at 0
        for (index i = 0; i < g.rows && (has || to.bonus.data); ++i) {
          V const r = op.raw_query(x, i), k = x.key(i), rho = has ? op.bonus_at(where, i) : V(0);
          to.bonus.parts.write(where, i, direct * r * k);
          g.key[i] = multiply_add(direct, r * rho, g.key[i]);
          g.query[i] = multiply_add(direct / x.query_factor, rho * k, g.query[i]);
        }
        op.give_rows(x, to.query, to.key, g);
        all_gradients<V> by_removal = g;
        by_removal.key = g.erase_read;
        op.removal_.give_rows(x.removal, {}, to.removal, by_removal);
      }
    };
    WANE_INLINE sink at(rwkv7 const& op, place<> where) const {
      impl::require_lent(bonus);
      return {*this, op, where};
    }
  };

 private:
  static keyed_options without_normalising(keyed_options options) {
    options.normalise = false;
    options.scale = options.scale.value_or(1);
    require(*options.scale != 0, "scale is 0; it must be another number");
    return options;
  }
  static keyed_options of_removal(keyed_options options) {
    options.scale = 1;
    return options;
  }
  WANE_INLINE Accumulate raw_query(typename keyed::terms const& x, index i) const {
    return convert<Accumulate>(this->in_.query.read(x.shared(), i));
  }
  WANE_INLINE Accumulate bonus_at(place<> where, index i) const {
    return static_cast<Accumulate>(this->own_.bonus(where.head, i));
  }

  keyed removal_;  // its key is the removal key
};

template <class Gate>
rwkv7(rwkv7_inputs<impl::deduced_number<Gate>> const&, Gate const&, keyed_options const& = {})
    -> rwkv7<impl::deduced_number<Gate>,
             impl::deduced_gate_of_rows<Gate, impl::deduced_number<Gate>>>;
template <class Io, impl::other_gate<Io> Gate>
rwkv7(rwkv7_inputs<Io> const&, Gate const&, keyed_options const& = {})
    -> rwkv7<Io, impl::deduced_gate_of_rows<Gate, Io>>;

}  // namespace wane
