// mamba3_memory: the memory of mamba3, which takes a token in substeps and reads the leads.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/gradient.hpp"
#include "wane/core/recurrence/row_lanes.hpp"
#include "wane/core/recurrence/substeps.hpp"
#include "wane/operators/memories/mamba3_tokens.hpp"

namespace wane::impl {

// The columns from j + offset on.
template <class Columns>
WANE_INLINE Columns shifted(Columns j, index offset) {
  if constexpr (std::integral<Columns>)
    j += offset;
  else
    j.first += offset;
  return j;
}

// The recurrence over the substeps of a token. R write B x^T of the token before, times
// (1 - trapezoid) delta; R write its own, times trapezoid delta, the first of which decays; R read.
// One rank reads as it writes, so it takes two substeps.
template <class Io, class Gate, class Accumulate>
class mamba3_substeps : public mamba3_tokens<Io, Gate, Accumulate> {
  using base = mamba3_tokens<Io, Gate, Accumulate>;

 public:
  mamba3_substeps(base const& of, sequence_view<Accumulate const> const& leads, bool backward)
      : base(of), leads_(leads), order_(this->substeps(), backward) {}

  recurrence_shape shape() const {
    recurrence_shape shape = base::shape();
    shape.time *= order_.count();
    return shape;
  }
  wane::layout layout() const { return layout_of(this->in_.x, leads_); }

  struct token {
    mamba3_substeps const& op;
    place<> where;  // of the token
    index number, of_key, of_query;
    Accumulate weight, of_head, skip;

    WANE_INLINE bool writes() const { return number < 2 * op.rank(); }
    WANE_INLINE bool reads() const { return number >= op.substeps() - op.rank(); }
    WANE_INLINE index rank() const { return number % op.rank(); }
    WANE_INLINE auto lead(auto i, index offset) const {
      return op.leads_.read(where, shifted(i, offset));
    }
    WANE_INLINE Accumulate log_decay() const { return of_head; }
    WANE_INLINE auto key(auto i) const {
      auto const b = lead(i, of_key);
      return writes() ? b * decltype(b)(weight) : decltype(b)(Accumulate(0));
    }
    WANE_INLINE auto query(auto i) const {
      auto const c = lead(i, of_query);
      return reads() ? c : decltype(c)(Accumulate(0));
    }
    WANE_INLINE auto value(auto j) const {
      using Value = std::remove_cvref_t<decltype(lead(j, 0))>;
      return number < op.rank()
                 ? lead(j, 3 * op.rank() * op.rows() + number * op.columns())
                 : Value(convert<Accumulate>(op.in_.x.read(op.of_rank(where, rank()), j)));
    }
    WANE_INLINE Accumulate direct() const { return skip; }
  };
  WANE_INLINE token at(place<> substep) const {
    index const R = this->rank(), N = this->rows();
    token x{*this, order_.token(substep), order_.number(substep), 0, 0, 0, 0, 0};
    Accumulate const own = this->trapezoid(x.where);
    x.of_key = x.number * N;
    x.of_query = (2 * R + x.rank()) * N;
    x.weight = this->delta(x.where) * (x.number < R ? Accumulate(1) - own : own);
    if (x.number == R) x.of_head = gate_terms<Accumulate, Gate>(this->gate_, x.where).log_decay();
    if (x.reads() && this->in_.D.data) x.skip = static_cast<Accumulate>(this->in_.D(x.where.head));
    return x;
  }

  void each_row(place<> substep, auto const& visit) const {
    index const n = order_.number(substep), R = this->rank();
    if (R <= n && n < 2 * R)
      visit(this->in_.x.element(this->of_rank(order_.token(substep), n - R), 0), this->columns());
  }

  // rows: as the leads, [B, T, H, 3 R N]; columns: of the values of substeps, [B, T, H, n P];
  // numbers: of their weights and D, and of the log decay, [B, T, H, 2 n + 1].
  struct gradients {
    sequence_view<Accumulate> rows, columns, numbers;

    wane::layout layout() const { return layout_of(rows, columns); }

    struct sink {
      gradients const& to;
      mamba3_substeps const& op;
      place<> substep;

      WANE_INLINE void column(auto j, auto g) const {
        token const x = op.at(substep);
        to.columns.write(x.where, shifted(j, x.number * op.columns()), g);
      }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        token const x = op.at(substep);
        row_sum<V> by_weight;
        for_row_lanes<V>(g.in_lanes, g.rows, [&](auto i) WANE_INLINE_LAMBDA {
          auto const by_key = row_at(g.key, i);
          if (x.writes()) {
            by_weight.add(x.lead(i, x.of_key), by_key);
            to.rows.write(x.where, shifted(i, x.of_key),
                          std::remove_const_t<decltype(by_key)>(x.weight) * by_key);
          }
          if (x.reads()) to.rows.write(x.where, shifted(i, x.of_query), row_at(g.query, i));
        });
        index const n = op.order_.count();
        to.numbers.write(x.where, x.number, by_weight.total());
        to.numbers.write(x.where, n + x.number, g.whole.direct);
        if (x.number == op.rank()) to.numbers.write(x.where, 2 * n, g.whole.decay);
      }
    };
    WANE_INLINE sink at(mamba3_substeps const& op, place<> substep) const {
      return {*this, op, substep};
    }
  };

 private:
  sequence_view<Accumulate const> leads_;
  substep_order order_;
};

// The memory over tokens. See wane/core/recurrence/substeps.hpp.
template <class Io, class Gate, class Accumulate>
class mamba3_memory : public mamba3_tokens<Io, Gate, Accumulate> {
  using base = mamba3_tokens<Io, Gate, Accumulate>;
  using steps = mamba3_substeps<Io, Gate, Accumulate>;

 public:
  using gradients = typename steps::gradients;

  mamba3_memory(base const& of, sequence_view<Accumulate const> const& leads)
      : base(of), leads_(leads) {}

  index reading_substeps() const { return this->rank(); }
  steps in_substeps(bool backward) const { return {*this, leads_, backward}; }
  gradients in_substeps(gradients const& to, bool) const { return to; }

 private:
  sequence_view<Accumulate const> leads_;
};

}  // namespace wane::impl
