// product_substeps: the recurrence of delta_product, whose tokens take several steps.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/substeps.hpp"
#include "wane/operators/memories/fading_terms.hpp"
#include "wane/operators/memories/memory_with.hpp"

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
