// grouped_queries: a memory whose heads are each read by several queries, which share its state.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/substeps.hpp"
#include "wane/operators/parts/keyed.hpp"

namespace wane::impl {

// The recurrence in which every query takes a substep: the first decays, erases and writes, too.
template <class Op>
class query_substeps : public Op {
 public:
  using accumulate = typename Op::accumulate;
  using of_memory = token_of<Op>;

  query_substeps(Op const& op, bool backward) : Op(op), order_{op.queries(), backward} {
    this->queries_ = 1;  // of a substep
  }

  recurrence_shape shape() const {
    recurrence_shape shape = Op::shape();
    shape.time *= order_.count();
    return shape;
  }
  Op const& memory() const { return *this; }

  struct token : of_memory {
    query_substeps const& op;
    place<> query_at;
    accumulate factor;
    bool first;

    WANE_INLINE auto query(auto i) const {
      auto const q = convert<accumulate>(op.in_.query.read(query_at, i));
      return multiply(q, decltype(q)(factor));
    }
    WANE_INLINE bool writes() const { return first; }
    WANE_INLINE auto key(auto i) const { return in_first(of_memory::key(i)); }
    WANE_INLINE auto erase_read(auto i) const requires has_erase<of_memory> {
      return in_first(of_memory::erase_read(i));
    }
    WANE_INLINE auto erase_write(auto i) const requires has_erase_write<of_memory> {
      return in_first(of_memory::erase_write(i));
    }
    WANE_INLINE auto log_decay() const requires has_log_decay<of_memory> {
      return in_first(of_memory::log_decay());
    }
    WANE_INLINE auto log_decay(auto i) const requires has_row_log_decay<of_memory> {
      return in_first(of_memory::log_decay(i));
    }

   private:
    template <class Term>
    WANE_INLINE Term in_first(Term term) const {
      return first ? term : Term(accumulate(0));
    }
  };
  WANE_INLINE token at(place<> substep) const {
    place<> const where = order_.token(substep), query_at = query_of(substep);
    return {Op::at(where), *this, query_at,
            this->scale_ * this->length_factor(this->in_.query, query_at, own_sums()),
            order_.number(substep) == 0};
  }
  WANE_INLINE void each_row(place<> substep, auto const& visit) const {
    Op::each_row(order_.token(substep), visit);
    visit(this->in_.query.element(query_of(substep), 0), this->in_.query.extent[3]);
  }
  WANE_INLINE place<> query_of(place<> substep) const {
    return order_.token(substep).with_head(substep.head * order_.count() + order_.number(substep));
  }

  // Gradients of the memory go to its own sink once a token.
  struct gradients {
    sequence_view<typename decltype(Op::gradients::query)::value_type> query;
    typename Op::gradients others;  // without that of queries

    wane::layout layout() const { return others.layout() & layout_of(query); }

    struct sink {
      gradients const& to;
      query_substeps const& op;
      place<> substep;

      WANE_INLINE void column(auto j, auto g) const {
        if (op.order_.number(substep) == 0) of_memory_sink().column(j, g);
      }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        place<> const at = op.query_of(substep);
        op.give_row(at, at, op.in_.query, to.query, g.query, g.in_lanes, op.at(substep).factor,
                    op.scale_);
        if (op.order_.number(substep) == 0) of_memory_sink().all(g);
      }

     private:
      WANE_INLINE auto of_memory_sink() const {
        return to.others.at(static_cast<Op const&>(op), op.order_.token(substep));
      }
    };
    WANE_INLINE sink at(query_substeps const& op, place<> substep) const {
      return {*this, op, substep};
    }
  };

 private:
  substep_order order_;
};

}  // namespace wane::impl

namespace wane {

//   wane::gla const memory({.query = q, .key = k, .value = v}, log_decay, {.queries = 4});
//   wane::run(wane::grouped_queries(memory), y);
//
// Grouped-query attention with a recurrent state: each of the H heads of `memory`, which is made
// with options.queries = n, is read by n queries. query is [B, T, H n, K], and query head h reads
// the state of head h / n; y is [B, T, H n, V]. The state is that of the memory, [B, H, K, V], so a
// token moves it once for n answers. Gradients are those of the memory, the one of query
// [B, T, H n, K].
template <class Op>
class grouped_queries {
  static_assert(!has_direct<token_of<Op>> && !strictly_causal<token_of<Op>> &&
                    !normalised_recurrence<Op>,
                "wane::grouped_queries: the memory must be read by its queries alone: no bonus, no "
                "tokens that read before they write, no division");

 public:
  using accumulate = typename Op::accumulate;
  using gradients = typename Op::gradients;

  explicit grouped_queries(Op const& memory) : memory_(memory) {}

  recurrence_shape shape() const { return memory_.shape(); }
  void check_inputs() const { in_substeps(false).memory().check_inputs(); }
  void check_parameters() const { memory_.check_parameters(); }
  bool counts_positions() const { return memory_.counts_positions(); }

  // See wane/core/recurrence/substeps.hpp.
  index substeps() const { return memory_.queries(); }
  index reading_substeps() const { return substeps(); }
  auto in_substeps(bool backward) const { return impl::query_substeps<Op>(memory_, backward); }
  auto in_substeps(gradients const& to, bool) const {
    return typename impl::query_substeps<Op>::gradients{to.query, without_query(to)};
  }
  // Throws wane::error where a gradient that is present does not fit.
  void check_gradients(gradients const& to) const {
    recurrence_shape shape = this->shape();
    without_query(to).check(shape);
    shape.heads *= substeps();
    check_if_present("the gradient of query", to.query, shape_of_rows(shape));
  }

 private:
  static gradients without_query(gradients to) {
    to.query = {};
    return to;
  }

  Op memory_;
};

}  // namespace wane
