// vla_memory: the memory S of VLA for known write directions, a delta rule.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/memories/gated.hpp"

namespace wane::impl {

// The recurrence of S in VLA, where `directions`, [B, T, H, K], holds the write directions of the
// tokens from time `origin` on. Every token erases along its key and writes along its direction.
template <class Io, any_gate Gate, class Accumulate>
class vla_memory : public gated_memory<Io, Gate, Accumulate> {
  using keyed = keyed_memory<Io, Accumulate>;
  using gated = gated_memory<Io, Gate, Accumulate>;
  static constexpr bool fades = !std::same_as<Gate, no_gate>;

 public:
  vla_memory(gated const& in, sequence_view<Accumulate const> const& directions, index origin,
             bool memory_fades)
      : gated(in), directions_(directions), origin_(origin), fades_(memory_fades) {}

  template <class Moved>
  WANE_HOST_DEVICE void move_tensors(Moved const& moved) {
    gated::move_tensors(moved), directions_ = moved.whole(directions_);
  }

  wane::layout layout() const { return gated::layout() & layout_of(directions_); }

  WANE_INLINE void each_row(place<> where, auto const& visit) const {
    gated::each_row(where, visit);
    visit(directions_.element(moved(where), 0), directions_.extent[3]);
  }

  struct token : keyed::terms, gate_terms<Accumulate, Gate> {
    sequence_view<Accumulate const> const& directions;
    place<> written;
    Accumulate decay;

    WANE_INLINE auto key(auto i) const { return directions.read(written, i); }
    WANE_INLINE auto erase_read(auto i) const {
      auto const k = keyed::terms::key(i);
      if constexpr (fades)
        return multiply(k, decltype(k)(decay));
      else
        return k;
    }
  };
  template <class Sums = own_sums>
  WANE_INLINE token at(place<> where, Sums const& sums = {}) const {
    token x{this->terms_at(where, sums), {this->gate_, where}, directions_, moved(where), 1};
    if constexpr (fades) {
      if (!fades_) x.of_head = 0;
      x.decay = factor_of(decay_from_log(x.log_decay()));
    }
    return x;
  }
  WANE_INLINE place<> moved(place<> where) const {
    where.time -= origin_;
    return where;
  }

  struct gradients {
    sequence_view<Io> query, value;
    sequence_view<Accumulate> directions, reads;
    token_view<Accumulate> decays;

    wane::layout layout() const { return layout_of(query, value, directions, reads); }

    struct sink {
      gradients const& to;
      vla_memory const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const { to.value.write(where, j, g); }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        token const x = op.at(where);
        row_sum<V> of_decay;
        for_row_lanes<V>(g.in_lanes, g.rows, [&](auto i) WANE_INLINE_LAMBDA {
          auto read = row_at(g.erase_read, i);
          if constexpr (fades) {
            using Row = decltype(read);
            // After a reset nothing is read, so the product with an infinite gradient must be 0.
            read = where_zero(Row(x.decay), Row(V(0)), Row(x.decay) * read);
            of_decay.add(x.keyed::terms::key(i), read);
          }
          to.directions.write(op.moved(where), i, row_at(g.key, i));
          to.reads.write(op.moved(where), i, read);
        });
        if constexpr (fades)
          if (op.fades_) to.decays.write(where, g.whole.decay + of_decay.total());
        op.give_rows(x, to.query, {}, g);
      }
    };
    WANE_INLINE sink at(vla_memory const& op, place<> where) const { return {*this, op, where}; }
  };

 private:
  sequence_view<Accumulate const> directions_;
  index origin_;
  bool fades_;
};

}  // namespace wane::impl
