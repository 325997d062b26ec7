// piece_effect: what the tokens of a rank do to any state, S -> T S + E, and how two are joined.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <complex>
#include <limits>

#include "wane/core/recurrence/without_writes.hpp"
#include "wane/ranks/exclusive_scan.hpp"
#include "wane/ranks/state_chain.hpp"
#include "wane/run/run.hpp"
#include "wane/run/shared/unread_outputs.hpp"

namespace wane::impl {

// How the transition T of a state of rows x columns looks. It is a matrix [rows, rows] where tokens
// erase, and otherwise a factor for each row, or for each element.
struct transition_form {
  enum : int { matrix, by_row, by_element } kind;
  index rows, columns;

  index columns_of_transition() const {
    return kind == matrix ? rows : kind == by_row ? 1 : columns;
  }
  index transition_size() const { return rows * columns_of_transition(); }
  index size() const { return 1 + transition_size() + rows * columns; }
};
template <class Op>
transition_form transition_form_of(recurrence_shape const& shape) {
  using form = transition_form;
  return {has_erase<token_of<Op>>           ? form::matrix
          : decays_by_element<token_of<Op>> ? form::by_element
                                            : form::by_row,
          shape.rows, shape.columns};
}

// The effect on one state, as numbers: its kind, T, E. A row of T, or a factor, of +0 is a reset:
// it forgets a NaN. Where T underflowed it is -0, which keeps a NaN and adds nothing else.
template <class State>
struct piece_effect {
  enum class kinds { maps, sets, keeps };  // S -> T S + E, S -> E, S -> S
  State *kind, *T, *E;

  piece_effect(transition_form const& form, State* numbers)
      : kind(numbers), T(kind + 1), E(T + form.transition_size()) {}

  bool is(kinds k) const { return *kind == State(static_cast<real_type<State>>(k)); }
  void set(kinds k) const { *kind = State(static_cast<real_type<State>>(k)); }

  static State underflowed() { return State(real_type<State>(-0.)); }
  static bool underflowed(State const& x) { return x == State(0) && std::signbit(std::real(x)); }
  static bool resets(State const& x) { return x == State(0) && !std::signbit(std::real(x)); }
  // Whether all of a row of T are +0.
  static bool resets(State const* row, index count) {
    return std::all_of(row, row + count, [](State const& x) { return resets(x); });
  }
};

// to += the sum over k of a[k] b[k, ...], for rows of b of `count` numbers. Four rows at a time, so
// that sums stay in registers longer.
template <class State>
void add_rows(State const* a, index terms, State const* b, index count, State* to) {
  index k = 0;
  for (; k + 4 <= terms; k += 4, a += 4, b += 4 * count)
    for (index j = 0; j < count; ++j) {
      State sum = multiply_add(a[0], b[j], to[j]);
      sum = multiply_add(a[1], b[j + count], sum);
      sum = multiply_add(a[2], b[j + 2 * count], sum);
      to[j] = multiply_add(a[3], b[j + 3 * count], sum);
    }
  for (; k < terms; ++k, ++a, b += count)
    for (index j = 0; j < count; ++j) to[j] = multiply_add(*a, b[j], to[j]);
}

// second = first and then second.
template <class State>
class effect_joiner {
 public:
  using effect = piece_effect<State>;
  using kinds = typename effect::kinds;

  explicit effect_joiner(transition_form const& form)
      : form_(form), row_(static_cast<std::size_t>(std::max(form.rows, form.columns))) {}

  void operator()(effect const& first, effect const& second) {
    if (first.is(kinds::keeps) || second.is(kinds::sets)) return;
    if (second.is(kinds::keeps)) {
      std::copy_n(first.kind, form_.size(), second.kind);
      return;
    }
    for (index i = 0; i < form_.rows; ++i)
      form_.kind == transition_form::matrix ? join_row(first, second, i)
                                            : join_factors(first, second, i);
    if (first.is(kinds::sets)) second.set(kinds::sets);
  }

 private:
  void join_factors(effect const& first, effect const& second, index i) {
    bool const by_row = form_.kind == transition_form::by_row;
    State* const T = second.T + i * form_.columns_of_transition();
    State const* const before = first.T + i * form_.columns_of_transition();
    for (index j = 0; j < form_.columns; ++j) {
      State const factor = T[by_row ? 0 : j];
      State& e = second.E[i * form_.columns + j];
      if (!effect::resets(factor)) e = multiply_add(factor, first.E[i * form_.columns + j], e);
    }
    for (index j = 0; j < form_.columns_of_transition(); ++j) {
      bool const resets = effect::resets(T[j]) || effect::resets(before[j]);
      T[j] = resets ? State(0) : multiply(T[j], before[j]);
      if (!resets && T[j] == State(0)) T[j] = effect::underflowed();
    }
  }
  void join_row(effect const& first, effect const& second, index i) {
    index const K = form_.rows;
    State* const T = second.T + i * K;
    if (effect::resets(T, K)) return;
    add_rows(T, K, first.E, form_.columns, second.E + i * form_.columns);
    if (first.is(kinds::sets)) return;
    std::fill(row_.begin(), row_.end(), State(0));
    add_rows(T, K, first.T, K, row_.data());
    bool forgets = true;
    for (index k = 0; k < K; ++k)
      forgets = forgets && (effect::resets(T[k]) || effect::resets(first.T + k * K, K));
    std::copy_n(row_.data(), K, T);
    if (!forgets && effect::resets(T, K)) T[i] = effect::underflowed();
  }

  transition_form form_;
  std::vector<State> row_;
};

// How large the numbers of T are, by which products of several T may leave the range although
// states do not.
struct transition_range {
  bool infinite = false, underflows = false, grows = false;

  void add(transition_range const& other) {
    infinite |= other.infinite, underflows |= other.underflows, grows |= other.grows;
  }
  bool stays() const { return !infinite && !(underflows && grows); }
};

// The effects on the states of the sequences of a link, [sequences, heads], end to end.
template <class State>
class piece_effects {
 public:
  using effect = piece_effect<State>;
  using kinds = typename effect::kinds;

  // They set all states to zero.
  piece_effects(transition_form const& form, index sequences, index heads)
      : form_(form),
        heads_(heads),
        join_(form),
        numbers(static_cast<std::size_t>(sequences * heads * form.size())) {
    each(numbers, [](effect const& e, index, index) { e.set(kinds::sets); });
  }

  // Calls visit(effect, sequence of the link, head).
  template <class Visit>
  void each(std::vector<State>& of, Visit const& visit) const {
    for (index n = 0; n < std::ssize(of) / form_.size(); ++n)
      visit(effect(form_, of.data() + n * form_.size()), n / heads_, n % heads_);
  }
  // Sets E to the states of a link.
  void set_drives(view<State, 4> const& states, shard_link const& link) {
    each(numbers, [&](effect const& e, index n, index h) {
      for (index i = 0; i < form_.rows; ++i)
        for (index j = 0; j < form_.columns; ++j)
          e.E[i * form_.columns + j] = states(link.first + n, h, i, j);
    });
  }
  // E of a scan, whose effects set all states.
  void states_of(std::vector<State>& before, view<State, 4> const& to,
                 shard_link const& link) const {
    each(before, [&](effect const& e, index n, index h) {
      for (index i = 0; i < form_.rows; ++i)
        for (index j = 0; j < form_.columns; ++j)
          to(link.first + n, h, i, j) = e.E[i * form_.columns + j];
    });
  }

  // Sets T to what the tokens of a link make of unit vectors. `options` are those of the run.
  template <class Op>
  void find_transitions(Op const& op, run_options<State> const& options, shard_link const& link) {
    index const columns = form_.columns_of_transition();
    linked_states<State> unit = run_from(op, options, link, columns, [&](index i, index j) {
      return State(form_.kind != transition_form::matrix || i == j ? 1 : 0);
    });
    bool forgets = false;
    recurrence_shape const shape = op.shape();
    each(numbers, [&](effect const& e, index n, index h) {
      walk const w =
          walk_of((link.first + n) * shape.heads + h, shape,
                  walk_options{options.packed, options.lengths, options.direction}, nullptr);
      e.set(w.count == 0 ? kinds::keeps : kinds::maps);
      for (index i = 0; i < form_.rows; ++i) {
        for (index j = 0; j < columns; ++j)
          e.T[i * columns + j] = unit.values(link.first + n, h, i, j) + State(0);  // no -0
        forgets = forgets || resets(e, i);
      }
    });
    if (forgets) keep_nan(op, options, link);
  }
  transition_range range() {
    transition_range range;
    each(numbers, [&](effect const& e, index, index) {
      if (!e.is(kinds::maps)) return;
      std::for_each(e.T, e.E, [&](State const& x) {
        using std::abs;
        auto const size = abs(x);
        range.add({!(size <= std::numeric_limits<real_type<State>>::max()), effect::underflowed(x),
                   size > 1000});
      });
    });
    return range;
  }
  // The transitions of gradients: transposed, and complex numbers conjugated.
  void turn_round() {
    each(numbers, [&](effect const& e, index, index) {
      if constexpr (is_complex<State>)
        std::transform(e.T, e.E, e.T, [](State const& x) { return std::conj(x); });
      for (index i = 0; form_.kind == transition_form::matrix && i < form_.rows; ++i)
        for (index k = 0; k < i; ++k) std::swap(e.T[i * form_.rows + k], e.T[k * form_.rows + i]);
    });
  }

  // What came to this rank, from the ranks before in the order of `way`.
  template <rank_group Ranks>
  std::vector<State> scan(Ranks const& ranks, direction way) {
    auto const join = [&](std::span<State const> first, std::span<State> second) {
      for (index n = 0; n < std::ssize(second); n += form_.size())
        join_(effect(form_, const_cast<State*>(first.data()) + n),
              effect(form_, second.data() + n));
    };
    return exclusive_scan(ranks, numbers, join, way);
  }

 private:
  // The states that the tokens of a link make of others, when they write nothing.
  template <class Op, class Initial>
  linked_states<State> run_from(Op const& op, run_options<State> const& options,
                                shard_link const& link, index columns, Initial const& initial) {
    without_writes<Op> const silent(op, columns);
    recurrence_shape const shape = silent.shape();
    linked_states<State> states(link, sequences_of(shape, options.packed), shape, {});
    for (index n = link.first; n < link.first + link.sequences; ++n)
      for (index h = 0; h < shape.heads; ++h)
        for (index i = 0; i < shape.rows; ++i)
          for (index j = 0; j < columns; ++j) states.values(n, h, i, j) = initial(i, j);
    run_options<State> own = options;
    own.initial.values = own.final.values = states.values;
    run_by_table(silent, unread_outputs(shape), own);
    return states;
  }

  // Whether row i, or an element of it, seems to be reset.
  bool resets(effect const& e, index i) const {
    index const count = form_.columns_of_transition();
    State const* const row = e.T + i * count;
    return form_.kind == transition_form::matrix
               ? effect::resets(row, count)
               : std::any_of(row, row + count, [](State const& x) { return effect::resets(x); });
  }
  // A zero in T is a reset where a NaN is forgotten; elsewhere it underflowed, or is the work of an
  // erasure, and the NaN stays.
  template <class Op>
  void keep_nan(Op const& op, run_options<State> const& options, shard_link const& link) {
    bool const matrix = form_.kind == transition_form::matrix;
    index const columns = matrix ? 1 : form_.columns_of_transition();
    auto const left = run_from(op, options, link, columns, [](index, index) {
      return State(std::numeric_limits<real_type<State>>::quiet_NaN());
    });
    each(numbers, [&](effect const& e, index n, index h) {
      for (index i = 0; i < form_.rows; ++i)
        for (index j = 0; j < columns; ++j) {
          State& factor = e.T[matrix ? i * form_.rows + i : i * columns + j];
          bool const zero =
              matrix ? effect::resets(e.T + i * form_.rows, form_.rows) : effect::resets(factor);
          State const nan = left.values(link.first + n, h, i, j);
          if (zero && nan != nan) factor = effect::underflowed();
        }
    });
  }

  transition_form form_;
  index heads_;
  effect_joiner<State> join_;  // here, because ranks that scan must not fail

 public:
  std::vector<State> numbers;
};

}  // namespace wane::impl
