// delta_product: several steps of the delta rule a token, each with its key, value and strength.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/substeps.hpp"
#include "wane/operators/delta_net.hpp"

namespace wane::impl {

// The recurrence over the n T substeps of delta_product. The first of a token decays the state, the
// last is read.
template <class Io, any_gate Gate, class Accumulate>
class product_substeps : public memory_with<strength_of<Io>, Io, no_gate, Accumulate> {
  using keyed = keyed_memory<Io, Accumulate>;
  using base = memory_with<strength_of<Io>, Io, no_gate, Accumulate>;

 public:
  product_substeps(keyed_tensors<Io> const& in, strength_of<Io> const& own, Gate const& gate,
                   keyed_options const& options)
      : base({in.key, in.key, in.value}, own, no_gate(), options), query_(in.query), gate_(gate) {
    index const tokens = in.query.extent[1], substeps = in.key.extent[1];
    check_given("query", in.query);
    require(tokens > 0 ? substeps > 0 && substeps % tokens == 0 : substeps == 0, "key has time ",
            substeps, "; it must be a multiple of that of query, ", tokens);
    if (substeps > 0) order_ = {substeps / tokens, false};
    for (int i : {0, 2, 3})
      require(in.query.extent[i] == in.key.extent[i], "query has extent ", in.query.extent[i],
              " along dimension ", i, "; it must equal that of key, ", in.key.extent[i]);
  }

  index substeps() const { return order_.count(); }
  recurrence_shape shape_of_tokens() const {
    recurrence_shape shape = this->shape();
    shape.time /= order_.count();
    return shape;
  }
  product_substeps taken(bool backward) const {
    product_substeps op = *this;
    op.order_.backward = backward;
    return op;
  }

  void check_inputs() const {
    base::check_inputs();
    this->check_data("query", query_);
    check_gate(gate_, shape_of_tokens());
  }
  bool counts_positions() const { return wane::counts_positions(gate_); }
  void check_parameters() const { check_gate_parameters(gate_); }
  wane::layout layout() const { return base::layout() & layout_of(query_) & layout_of_gate(gate_); }

  struct token : keyed::terms, fading_terms<Accumulate, Gate> {
    using fading = fading_terms<Accumulate, Gate>;
    using keyed::terms::where;
    product_substeps const& op;
    place<> of_token;
    Accumulate strength, query_factor;
    bool first, last;

    WANE_INLINE Accumulate log_decay() const requires head_gate<Gate> {
      return first ? fading::log_decay() : Accumulate(0);
    }
    WANE_INLINE auto log_decay(auto i) const requires row_gate<Gate> {
      auto const g = fading::log_decay(i);
      return first ? g : decltype(g)(Accumulate(0));
    }
    WANE_INLINE auto query(auto i) const {
      auto const q = convert<Accumulate>(op.query_.read(op.shared_of(of_token), i));
      return last ? multiply(q, decltype(q)(query_factor)) : decltype(q)(Accumulate(0));
    }
    WANE_INLINE auto key(auto i) const {
      auto const k = keyed::terms::key(i);
      return multiply(k, decltype(k)(strength));
    }
    WANE_INLINE auto erase_read(auto i) const {
      auto const k = keyed::terms::key(i);
      return first ? multiply(k, decltype(k)(this->factor(i))) : k;
    }
  };
  WANE_INLINE token at(place<> substep) const {
    place<> const where = order_.tensor(substep), of_token = order_.token(substep);
    index const n = order_.number(substep);
    return {this->terms_at(where),
            {gate_, of_token},
            *this,
            of_token,
            static_cast<Accumulate>(this->own_.strength.read(where)),
            this->scale_ * this->length_factor(query_, this->shared_of(of_token), own_sums()),
            n == 0,
            n + 1 == order_.count()};
  }

  WANE_INLINE void each_row(place<> substep, auto const& visit) const {
    base::each_row(order_.tensor(substep), visit);
    place<> const of_token = order_.token(substep);
    visit(query_.element(this->shared_of(of_token), 0), query_.extent[3]);
    each_row_of_gate(gate_, of_token, visit);
  }

  template <class Gradients>
  struct substep_gradients {
    Gradients to;

    wane::layout layout() const { return layout_of_gradients_with<strength_of<Io>>(to); }

    struct sink {
      Gradients const& to;
      product_substeps const& op;
      place<> substep;

      WANE_INLINE void column(auto j, auto g) const {
        to.value.write(op.order_.tensor(substep), j, g);
      }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        token const x = op.at(substep);
        decay_gradient<Gate, V> by_decay{g.whole.decay};
        row_sum<V> by_strength;
        for_row_lanes<V>(g.in_lanes, g.rows, [&](auto i) WANE_INLINE_LAMBDA {
          auto const k = x.keyed::terms::key(i), by_key = row_at(g.key, i);
          using Row = std::remove_const_t<decltype(k)>;
          Row read = row_at(g.erase_read, i);
          if (x.first) read = x.through_factor(i, read);
          by_strength.add(k, by_key);
          if (x.first) by_decay.give(to.log_decay, x.of_token, i, row_at(g.decay, i), k, read);
          set_row(g.key, i, multiply_add(Row(x.strength), by_key, read));
        });
        op.give_row(x.shared(), x.where, op.in_.key, to.key, g.key, g.in_lanes, x.key_factor);
        to.strength.write(x.where, by_strength.total());
        if (x.first) by_decay.give(to.log_decay, x.of_token);
        if (x.last)
          op.give_row(op.shared_of(x.of_token), x.of_token, op.query_, to.query, g.query,
                      g.in_lanes, x.query_factor, op.scale_);
      }
    };
    WANE_INLINE sink at(product_substeps const& op, place<> substep) const {
      return {to, op, substep};
    }
  };

 private:
  sequence_view<Io const> query_;
  Gate gate_;
  substep_order order_;
};

}  // namespace wane::impl

namespace wane {

// S <- D S, and then n times S <- S + beta_j k_j (v_j - k_j^T S)^T,   D = diag(e^{g_t}),
// y_t = scale S^T q_t          (Siems et al. 2025, "DeltaProduct"; with a gate Gated DeltaProduct)
//
//   wane::delta_product<float> const memory(
//       {.query = q, .key = k, .value = v, .strength = beta}, {.normalise = true});
//   wane::run(memory, y);
//
// query: [B, T, G, K]; key: [B, n T, G, K], value: [B, n T, H, V] and strength: [B, n T, H], in
// [0, 2], where steps n t ... n t + n - 1 belong to token t. The gate may be absent (no_gate), of
// heads, [B, T, H], or of rows, [B, T, H, K]. y is [B, T, H, V], the state [B, H, K, V]. A step
// reflects (beta = 2) or projects the keys, n of them rotate; n = 1 is delta_net.
template <class Io, any_gate Gate = no_gate, class Accumulate = widened<Io>>
class delta_product {
  using steps = impl::product_substeps<Io, Gate, Accumulate>;

 public:
  using accumulate = Accumulate;

  // Throws wane::error when the shapes do not fit, or an option is out of range.
  explicit delta_product(std::type_identity_t<delta_inputs<Io>> const& in,
                         keyed_options const& options = {}) requires std::same_as<Gate, no_gate>
      : delta_product(in, no_gate(), options) {}
  // A template, so that {} as second argument means options.
  template <class Given = Gate>
  delta_product(std::type_identity_t<delta_inputs<Io>> const& in, Given const& gate,
                keyed_options const& options = {})
      : steps_(impl::keyed_tensors_of<Io>(in), {in.strength}, impl::gate_from<Gate>(gate),
               options) {}

  recurrence_shape shape() const { return steps_.shape_of_tokens(); }
  void check_inputs() const { steps_.check_inputs(); }
  void check_parameters() const { steps_.check_parameters(); }
  bool counts_positions() const { return steps_.counts_positions(); }

  // Any may be absent; each has the shape of its input, key and query of H heads.
  struct gradients {
    impl::by_name only = {};
    impl::named<"query", sequence_view<Io>> query = {};
    impl::named<"key", sequence_view<Io>> key = {};
    impl::named<"value", sequence_view<Io>> value = {};
    impl::named<"strength", token_view<Io>> strength = {};
    impl::gate_gradient<Gate, Io> log_decay = {};

    void check(delta_product const& op) const {
      recurrence_shape const tokens = op.shape(), substeps = op.steps_.shape();
      check_if_present("the gradient of query", query, shape_of_rows(tokens));
      check_if_present("the gradient of key", key, shape_of_rows(substeps));
      check_if_present("the gradient of value", value, substeps);
      check_if_present("the gradient of strength", strength, substeps);
      impl::check_gate_gradient(log_decay, tokens);
    }
  };

  // See wane/core/recurrence/substeps.hpp.
  index substeps() const { return steps_.substeps(); }
  index reading_substeps() const { return 1; }
  auto in_substeps(bool backward) const { return steps_.taken(backward); }
  auto in_substeps(gradients const& to, bool) const {
    return typename steps::template substep_gradients<gradients>{to};
  }

 private:
  steps steps_;
};

template <class Gate>
delta_product(delta_inputs<impl::deduced_number<Gate>> const&, Gate const&,
              keyed_options const& = {})
    -> delta_product<impl::deduced_number<Gate>, impl::deduced_gate<Gate>>;
template <class Io, impl::other_gate<Io> Gate>
delta_product(delta_inputs<Io> const&, Gate const&, keyed_options const& = {})
    -> delta_product<Io, impl::deduced_gate<Gate>>;

}  // namespace wane
