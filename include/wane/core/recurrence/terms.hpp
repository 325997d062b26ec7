// The terms a token brings, and which of them a token type has: absence is known at compile time.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

#include "wane/core/numbers/decay.hpp"

namespace wane {

// S <- w o S + erase_write (erase_read^T S) + key value^T,    y = S^T query + direct value + skip
//
// A token may have these members; i is a row, j a column (or lanes of columns). The result is a
// number of the accumulating type, or a simd of them where j or the token's time stands for many.
//   value(j)                                    always
//   log_decay(), log_decay(i), log_decay(i, j)  at most one; natural log, <= 0, -inf resets
//   decay(), decay(i), decay(i, j)              or one of these instead: the plain factor
//   key(i)                                      absent: 1
//   query(i), query(i, j)                       absent: 1 (the latter for banks of poles alone)
//   erase_read(i)                               absent: nothing is erased
//   erase_write(i)                              absent: -key(i), the delta rule: what is written is
//                                               key (value - erase_read^T S)^T
//   direct()                                    absent: 0
//   skip(j)                                     absent: 0; added to output j, never remembered
//   is_strictly_causal                          absent or false. True, a constant: what is read is
//                                               w o S, before this token writes, and direct is the
//                                               whole weight of its own value. (Runners may take
//                                               its own match as 0 times itself, which is NaN
//                                               where a term is not finite.)
// at_column(j), where it is there, gives a token with those of them that take j, for this column
// (or these lanes) alone: what a column brings to all its rows is found once. i may also be lanes
// of rows, which runners use where all terms by row take them and the tensors lie so (`layout`).

template <class Token, class Column = index>
concept has_value = requires(Token x, Column j) {
  x.value(j);
};
template <class Token>
concept has_key = requires(Token x, index i) {
  x.key(i);
};
template <class Token>
concept has_query = requires(Token x, index i) {
  x.query(i);
};
template <class Token, class Column = index>
concept has_element_query = requires(Token x, index i, Column j) {
  x.query(i, j);
};
template <class Token>
concept has_erase = requires(Token x, index i) {
  x.erase_read(i);
};
template <class Token>
concept has_erase_write = requires(Token x, index i) {
  x.erase_write(i);
};
// The erasure goes where the write goes.
template <class Token>
concept is_delta_rule = has_erase<Token> && !has_erase_write<Token>;
template <class Token>
concept has_direct = requires(Token x) {
  x.direct();
};

template <class Token, class Column = index>
concept has_skip = requires(Token x, Column j) {
  x.skip(j);
};

template <class Token>
concept strictly_causal = requires {
  requires Token::is_strictly_causal;
};

template <class Token>
concept has_log_decay = requires(Token x) {
  x.log_decay();
};
template <class Token>
concept has_row_log_decay = requires(Token x, index i) {
  x.log_decay(i);
};
template <class Token, class Column = index>
concept has_element_log_decay = requires(Token x, index i, Column j) {
  x.log_decay(i, j);
};
template <class Token>
concept has_plain_decay = requires(Token x) {
  x.decay();
};
template <class Token>
concept has_row_plain_decay = requires(Token x, index i) {
  x.decay(i);
};
template <class Token, class Column = index>
concept has_element_plain_decay = requires(Token x, index i, Column j) {
  x.decay(i, j);
};

template <class Token, class Column = index>
concept decays_by_element =
    has_element_log_decay<Token, Column> || has_element_plain_decay<Token, Column>;
template <class Token>
concept decays_in_logs =
    has_log_decay<Token> || has_row_log_decay<Token> || has_element_log_decay<Token>;

// The token as one column, or some lanes, see it.
template <class Token, class Column>
WANE_INLINE decltype(auto) column_of(Token const& x, Column j) {
  if constexpr (requires { x.at_column(j); })
    return x.at_column(j);
  else
    return (x);
}

// The decay of state element (i, j), whichever way the token states it.
template <class Token, class Column>
WANE_INLINE auto decay_of(Token const& x, index i, Column j) {
  if constexpr (has_element_log_decay<Token, Column>)
    return decay_from_log(x.log_decay(i, j));
  else if constexpr (has_row_log_decay<Token>)
    return decay_from_log(x.log_decay(i));
  else if constexpr (has_log_decay<Token>)
    return decay_from_log(x.log_decay());
  else if constexpr (has_element_plain_decay<Token, Column>)
    return plain_decay<decltype(x.decay(i, j))>{x.decay(i, j)};
  else if constexpr (has_row_plain_decay<Token>)
    return plain_decay<decltype(x.decay(i))>{x.decay(i)};
  else if constexpr (has_plain_decay<Token>)
    return plain_decay<decltype(x.decay())>{x.decay()};
  else
    return no_decay{};
}

// What a query meets of a state element: it after the token, or as it is before the token writes.
template <class Token, class W, class V>
WANE_INLINE V read_from(W w, V before, V after) {
  if constexpr (strictly_causal<Token>)
    return carried(w, before, V(real_type<typename impl::scalar_of_value<V>::type>(0)));
  else
    return after;
}

// key(i) value(j), the key 1 where it is absent.
template <class Token, class Column>
WANE_INLINE auto write_of(Token const& x, index i, Column j) {
  auto const value = x.value(j);
  if constexpr (has_key<Token>)
    return multiply(decltype(value)(x.key(i)), value);
  else
    return value;
}

}  // namespace wane
