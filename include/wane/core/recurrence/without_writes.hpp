// without_writes: an operator whose tokens write nothing, so that only its initial state is left.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/recurrence.hpp"

namespace wane::impl {

// The terms of a token by which it changes a state, its value 0 in every column. (Parameters have
// names that no token's members have.)
template <class Token>
struct silent_token : Token {
  template <class Column>
  requires has_value<Token, Column> WANE_INLINE auto value(Column silent_column) const {
    using V = std::remove_cvref_t<decltype(Token::value(silent_column))>;
    return V(real_type<typename scalar_of_value<V>::type>(0));
  }
  // A query by element is left out, as are numbers added to outputs.
  template <class Row>
  requires requires(Token const& x, Row i) { x.query(i); }
  WANE_INLINE auto query(Row silent_row) const { return Token::query(silent_row); }
  template <class Column>
  requires requires(Token const& x, Column j) { x.at_column(j); }
  WANE_INLINE auto at_column(Column silent_column) const {
    using Own = std::remove_cvref_t<decltype(Token::at_column(silent_column))>;
    return silent_token<Own>{Token::at_column(silent_column)};
  }
  void skip() const = delete;
};

// The operator of the same tokens with `columns` columns, in which nothing is written. A run from
// unit vectors, as columns, gives what the tokens of `op` make of any state.
template <affine_recurrence Op>
struct without_writes : Op {
  static constexpr bool is_time_invariant = false, has_constant_decays = false;

  without_writes(Op const& op, index columns) : Op(op), columns_(columns) {}

  recurrence_shape shape() const {
    recurrence_shape shape = Op::shape();
    shape.columns = columns_;
    return shape;
  }
  template <class Time>
  requires requires(Op const& op, place<Time> const& where) { op.at(where); }
  WANE_INLINE auto at(place<Time> const& where) const {
    using Token = std::remove_cvref_t<decltype(Op::at(where))>;
    return silent_token<Token>{Op::at(where)};
  }
  // What is the operator's own: its division, its inputs, and how its outputs look.
  void floor() const = delete;
  void values() const = delete;
  void output_columns() const = delete;
  void with_tensors() const = delete;
  void each_row() const = delete;

 private:
  index columns_;
};

}  // namespace wane::impl
