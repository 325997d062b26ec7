// The recurrences of mlstm: the running maximum of its gates, and the memory that it scales.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "wane/core/numbers/wider.hpp"
#include "wane/operators/memories/memory_with.hpp"
#include "wane/operators/parts/column_of_ones.hpp"

namespace wane::impl {

// input_gate: [B, T, H], the log of the weight of a write.
template <class Io>
struct mlstm_tensors {
  token_view<Io const> input_gate;
  WANE_INLINE static void each(auto& of, auto const& visit) {
    visit(of_tokens(), "input_gate", of.input_gate);
  }
};

// What the maximum m_t = max(log f_t + m_{t-1}, log i_t) makes of a token's gates. m is rounded
// up, and the log decay of the scaled state is found, in a wider type, from the m that the state
// holds, so that the rounding of m cancels.
template <class T>
struct scaled_gates {
  T maximum, log_decay;
  // Whether m_t is log f_t + m_{t-1}, or log i_t; neither where both are closed.
  bool keeps, writes;

  scaled_gates(T log_forget, T log_input, T before) {
    constexpr T none = -std::numeric_limits<T>::infinity();
    wider<T> const kept = static_cast<wider<T>>(log_forget) + static_cast<wider<T>>(before);
    keeps = !(kept < static_cast<wider<T>>(log_input));
    maximum = keeps ? static_cast<T>(kept) : log_input;
    if (static_cast<wider<T>>(maximum) < kept) maximum = std::nextafter(maximum, -none);
    writes = !keeps;
    if (maximum == none) maximum = T(0), keeps = writes = false;
    log_decay = log_forget == none ? none : static_cast<T>(kept - static_cast<wider<T>>(maximum));
  }
};

// m, one number a head. Its outputs are the log decay and m of a token.
template <class Io, class Gate, class Accumulate>
class mlstm_leader : public memory_with<mlstm_tensors<Io>, Io, Gate, Accumulate> {
  using base = memory_with<mlstm_tensors<Io>, Io, Gate, Accumulate>;

 public:
  explicit mlstm_leader(base const& of) : base(of) {}

  recurrence_shape shape() const {
    recurrence_shape shape = base::shape();
    shape.rows = shape.columns = 1;
    return shape;
  }
  index output_columns() const { return 2; }

  scaled_gates<Accumulate> gates_at(place<> at, Accumulate before) const {
    return {gate_terms<Accumulate, Gate>(this->gate_, at).log_decay(),
            static_cast<Accumulate>(this->own_.input_gate.read(at)), before};
  }
  void advance(place<> at, view<Accumulate, 2> const& state, auto const& write) const {
    scaled_gates<Accumulate> const now = gates_at(at, state(0, 0));
    write(0, now.log_decay), write(1, state(0, 0) = now.maximum);
  }
};

// C and, as last column, n, both times e^-m: C <- e^d C + e^{log i - m} k (v, 1)^T, read by
// C^T q / max(|n . q|, e^-m).
template <class Io, class Gate, class Accumulate>
class mlstm_memory : public memory_with<mlstm_tensors<Io>, Io, Gate, Accumulate> {
  using keyed = keyed_memory<Io, Accumulate>;
  using base = memory_with<mlstm_tensors<Io>, Io, Gate, Accumulate>;

 public:
  static constexpr bool divides_by_magnitude = true;

  mlstm_memory(base const& of, sequence_view<Accumulate const> const& leads)
      : base(of), leads_(leads) {}

  recurrence_shape shape() const {
    recurrence_shape shape = base::shape();
    shape.columns += 1;
    return shape;
  }
  WANE_INLINE Accumulate floor(place<> at) const {
    using std::exp;
    // Not 0, so that a query that finds nothing is answered by 0 whatever m is.
    return std::max(exp(-leads_.read(at, index{1})), std::numeric_limits<Accumulate>::min());
  }

  struct token : keyed::terms {
    index of_ones;
    Accumulate of_head, weight;

    WANE_INLINE Accumulate log_decay() const { return of_head; }
    WANE_INLINE auto key(auto i) const {
      auto const k = keyed::terms::key(i);
      return multiply(k, decltype(k)(weight));
    }
    WANE_INLINE auto value(auto j) const {
      typename keyed::terms const& x = *this;
      return value_or_one<Accumulate>(of_ones, j,
                                      [&x](auto n) WANE_INLINE_LAMBDA { return x.value(n); });
    }
  };
  WANE_INLINE token at(place<> where) const {
    using std::exp;
    auto const input = static_cast<Accumulate>(this->own_.input_gate.read(where));
    return {this->terms_at(where), this->in_.value.extent[3], leads_.read(where, index{0}),
            exp(input - leads_.read(where, index{1}))};
  }

  // `gates` receives the gradients of log f and log i, m held fixed.
  template <class Gradients>
  struct gradients {
    Gradients const& to;
    sequence_view<Accumulate> gates;

    wane::layout layout() const { return layout_of(to.query, to.key, to.value); }

    struct sink {
      gradients const& of;
      mlstm_memory const& op;
      place<> where;

      WANE_INLINE void column(auto j, auto g) const { write_before_ones(of.to.value, where, j, g); }
      template <class V>
      WANE_INLINE void all(all_gradients<V> const& g) const {
        token const x = op.at(where);
        row_sum<V> by_input;
        for_row_lanes<V>(g.in_lanes, g.rows, [&](auto i) WANE_INLINE_LAMBDA {
          auto const by_key = row_at(g.key, i);
          by_input.add(x.key(i), by_key);
          set_row(g.key, i, std::remove_const_t<decltype(by_key)>(x.weight) * by_key);
        });
        of.gates.write(where, index{0}, g.whole.decay);
        of.gates.write(where, index{1}, by_input.total());
        op.give_rows(x, of.to.query, of.to.key, g);
      }
    };
    WANE_INLINE sink at(mlstm_memory const& op, place<> where) const { return {*this, op, where}; }
  };

 private:
  sequence_view<Accumulate const> leads_;
};

}  // namespace wane::impl
