// The terms of a token, and concepts that say at compile time which terms a token type has.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

#include "wane/core/numbers/decay.hpp"

namespace wane {

// S <- w o S + erase_write (erase_read^T S) + key value^T,    y = S^T query + direct value + skip
//
//   struct token {  // of linear attention
//     auto key(index i) const;
//     auto value(auto j) const;
//     auto query(index i) const;
//   };
//
// A token has value(j), and any of the other members; i is a row, j a column or lanes of columns.
// Each returns a number of the accumulating type. It returns a simd where j is lanes, or where the
// token stands for several times.
//   value(j)                                    always
//   log_decay(), log_decay(i), log_decay(i, j)  at most one; natural log, <= 0, -inf resets
//   split_decay(i, j)                           only beside log_decay(i, j): the same decay as
//                                               whole + rest, where that takes no e^log
//   decay(), decay(i), decay(i, j)              or one of these instead: the plain factor
//   key(i)                                      absent: 1
//   query(i), query(i, j)                       absent: 1; query(i, j) is only for banks of poles
//   erase_read(i)                               absent: nothing is erased
//   erase_write(i)                              absent: -key(i), the delta rule, which writes
//                                               key (value - erase_read^T S)^T
//   direct()                                    absent: 0
//   skip(j)                                     absent: 0; added to output j, not to the state
//   is_strictly_causal                          a constant, absent: false. If true, the query reads
//                                               w o S, before this token writes, and only direct
//                                               weights the value of the same token. Runners may
//                                               add 0 times query . key of the token, which is NaN
//                                               where a term is not finite.
//   reads_before_decay                          a constant, absent: false. If true, the token is
//                                               strictly causal, and its query reads S, not w o S.
// writes() is optional. Where it is false the token does not decay, erase or write: its key,
// erase_read and erase_write are 0, its decay 1. reads() is optional, too, for a token that takes
// substeps: where it is false the query is 0 and the output is not wanted. A runner may then leave
// the work out.
// at_column(j) is optional. It returns a token that answers for column j (or lanes) alone, so that
// numbers which all rows of a column share are computed once. i may also be lanes of rows; runners
// use them where all terms by row take lanes and the `layout` allows it.

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
// Erases in the direction in which it writes: erase_write = -key.
template <class Token>
concept is_delta_rule = has_erase<Token> && !has_erase_write<Token>;
template <class Token>
concept has_writes = requires(Token x) {
  { x.writes() } -> std::convertible_to<bool>;
};
template <class Token>
concept has_reads = requires(Token x) {
  { x.reads() } -> std::convertible_to<bool>;
};
template <class Token>
concept has_direct = requires(Token x) {
  x.direct();
};

template <class Token, class Column = index>
concept has_skip = requires(Token x, Column j) {
  x.skip(j);
};

template <class Token>
concept reads_before_decay = requires {
  requires Token::reads_before_decay;
};
template <class Token>
concept strictly_causal = reads_before_decay<Token> || requires {
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
// See numbers/decay.hpp. Gradients are those of the log.
template <class Token, class Column = index>
concept has_split_decay = has_element_log_decay<Token, Column> &&
    requires(Token x, index i, Column j) {
  x.split_decay(i, j);
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

// The token of column j or of lanes: at_column(j) where the token has it, otherwise the token.
template <class Token, class Column>
WANE_INLINE decltype(auto) column_of(Token const& x, Column j) {
  if constexpr (requires { x.at_column(j); })
    return x.at_column(j);
  else
    return (x);
}

}  // namespace wane

namespace wane::impl {

// The state that the query of a token reads: with what the token writes, faded, or as it was.
enum class reading { written, faded, old };
template <class Token>
inline constexpr reading reading_of = reads_before_decay<Token> ? reading::old
                                      : strictly_causal<Token>  ? reading::faded
                                                                : reading::written;

// The log decay of state element (i, j), where decays are logs.
template <class Token, class Column>
WANE_INLINE auto log_decay_of(Token const& x, index i, Column j) {
  if constexpr (has_element_log_decay<Token, Column>)
    return x.log_decay(i, j);
  else if constexpr (has_row_log_decay<Token>)
    return x.log_decay(i);
  else
    return x.log_decay();
}

}  // namespace wane::impl

namespace wane {

// The decay of state element (i, j), in the type that fits the term: log, plain, or none.
template <class Token, class Column>
WANE_INLINE auto decay_of(Token const& x, index i, Column j) {
  if constexpr (has_split_decay<Token, Column>)
    return x.split_decay(i, j);
  else if constexpr (has_element_log_decay<Token, Column> || has_row_log_decay<Token> ||
                     has_log_decay<Token>)
    return decay_from_log(impl::log_decay_of(x, i, j));
  else if constexpr (has_element_plain_decay<Token, Column>)
    return plain_decay<decltype(x.decay(i, j))>{x.decay(i, j)};
  else if constexpr (has_row_plain_decay<Token>)
    return plain_decay<decltype(x.decay(i))>{x.decay(i)};
  else if constexpr (has_plain_decay<Token>)
    return plain_decay<decltype(x.decay())>{x.decay()};
  else
    return no_decay{};
}

// The state element that the query reads: `after` the token, or for strictly causal tokens w
// before, or `before`.
template <class Token, class W, class V>
WANE_INLINE V read_from(W w, V before, V after) {
  if constexpr (reads_before_decay<Token>)
    return before;
  else if constexpr (strictly_causal<Token>)
    return carried(w, before, V(real_type<typename impl::scalar_of_value<V>::type>(0)));
  else
    return after;
}

}  // namespace wane
