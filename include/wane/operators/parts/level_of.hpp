// level_of: one level of log_linear_of, a memory that is written for a while and then read.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include "wane/core/recurrence/gradient.hpp"
#include "wane/core/recurrence/parameter_gradient.hpp"
#include "wane/core/recurrence/row_lanes.hpp"
#include "wane/operators/parts/fenwick_level.hpp"
#include "wane/operators/parts/numbers_of_tokens.hpp"

namespace wane::impl {

// The type of the tensors of a memory.
template <class Op>
using io_of = typename decltype(Op::gradients::query)::value_type;

// One level of a memory, level 1 or above.
template <class Op>
class level_of : public Op {
  using T = typename Op::accumulate;
  using of_memory = token_of<Op>;

 public:
  level_of(Op const& memory, sequence_view<io_of<Op> const> const& scale, index number)
      : Op(memory), scale_(scale), number_(number) {}

  struct token : of_memory {
    T scale;  // of the query: 0 while the level is written
    bool reads, begins;

    WANE_INLINE auto query(auto i) const {
      auto const q = of_memory::query(i);
      return multiply(q, decltype(q)(scale));
    }
    // While the level is read its value is 0; its key is not, because a delta rule erases with it.
    WANE_INLINE auto value(auto j) const {
      auto const v = of_memory::value(j);
      return reads ? decltype(v)(T(0)) : v;
    }
    WANE_INLINE auto erase_read(auto i) const requires has_erase<of_memory> {
      auto const x = of_memory::erase_read(i);
      return begins ? decltype(x)(T(0)) : x;
    }
    WANE_INLINE T log_decay() const requires(!has_row_log_decay<of_memory>) {
      if (begins) return -std::numeric_limits<T>::infinity();
      if constexpr (has_log_decay<of_memory>)
        return of_memory::log_decay();
      else
        return T(0);
    }
    WANE_INLINE auto log_decay(auto i) const requires has_row_log_decay<of_memory> {
      auto const g = of_memory::log_decay(i);
      return begins ? decltype(g)(-std::numeric_limits<T>::infinity()) : g;
    }
  };
  WANE_INLINE token at(place<> where) const {
    fenwick_level const level{number_, where.position - 1};
    bool const reads = level.is_read();
    return {Op::at(where), reads ? static_cast<T>(scale_.read(where, number_)) : T(0), reads,
            level.begins()};
  }

  // Gradients of the terms of the memory's tokens, to which every level adds its own.
  class sums {
   public:
    explicit sums(recurrence_shape const& s)
        : rows_(s.rows),
          numbers_(s, s.columns + channels()),
          values_(numbers_.take(s.columns)),
          terms_(numbers_.take(channels())) {}

    WANE_INLINE sequence_view<T> const& values() const { return values_; }
    WANE_INLINE all_gradients<T> terms(place<> at, bool in_lanes) const {
      T* const g = terms_.element(at, 0);
      return {rows_,         in_lanes,          g + 1 + 4 * rows_, g + 1,
              g + 1 + rows_, g + 1 + 2 * rows_, g + 1 + 3 * rows_, {g[0], T(0)}};
    }
    WANE_INLINE T& whole_decay(place<> at) const { return *terms_.element(at, 0); }

   private:
    index channels() const { return 5 * rows_ + 1; }

    index rows_;
    numbers_of_tokens<T> numbers_;
    sequence_view<T> values_, terms_;
  };

  struct gradients {
    sums const& of_memory;
    sequence_view<io_of<Op>> level_scale;

    wane::layout layout() const { return {true, true, true}; }

    struct sink {
      gradients const& to;
      level_of const& op;
      token x;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const {
        auto const& values = to.of_memory.values();
        if (!x.reads) values.write(where, j, values.read(where, j) + g);
      }
      WANE_INLINE void all(all_gradients<T> const& g) const {
        all_gradients<T> const sum = to.of_memory.terms(where, g.in_lanes);
        row_sum<T> by_scale;
        for_row_lanes<T>(g.in_lanes, g.rows, [&](auto i) WANE_INLINE_LAMBDA {
          auto const by_query = row_at(g.query, i);
          using Row = std::remove_const_t<decltype(by_query)>;
          auto const add = [&](T* y, Row by)
                               WANE_INLINE_LAMBDA { set_row(y, i, row_at(y, i) + by); };
          by_scale.add(x.of_memory::query(i), by_query);
          add(sum.query, Row(x.scale) * by_query);
          add(sum.key, row_at(g.key, i));
          if constexpr (has_erase_write<token>) add(sum.erase_write, row_at(g.erase_write, i));
          if (x.begins) return;
          if constexpr (has_erase<token>) add(sum.erase_read, row_at(g.erase_read, i));
          if constexpr (has_row_log_decay<token>) add(sum.decay, row_at(g.decay, i));
        });
        if (!x.begins) to.of_memory.whole_decay(where) += g.whole.decay;
        to.level_scale.write(where, op.number_, x.reads ? by_scale.total() : T(0));
      }
    };
    WANE_INLINE sink at(level_of const& op, place<> where) const {
      return {*this, op, op.at(where), where};
    }
  };

 private:
  sequence_view<io_of<Op> const> scale_;
  index number_;
};

}  // namespace wane::impl
