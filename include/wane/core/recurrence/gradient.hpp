// The gradients that adjoint computes for the terms of a token, and the sink that receives them.
// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "wane/core/recurrence/place.hpp"

namespace wane {

//   struct gradients {
//     auto at(place<> where) const { return sink{...}; }
//   };
//
// The gradients of an operator are an object whose at(place) returns a sink with some of the
// members below. A gradient without a member is not delivered. check(shape), check(shape,
// sequences) or check(op), where present, throws wane::error where a tensor does not fit. Gradients
// of complex terms are d/dRe + j d/dIm.
//   element(j, element_gradient)      for channelwise recurrences, once a token and column
//   stream(j, element_gradient)       the same for whole vectors, past the caches, where the
//                                     gradients' streams() is true
//   column(j, value)                  d/d value(j), once a token and column
//   row(i, row_gradient)              once a token and row
//   whole(token_gradient)             once a token
//   all(all_gradients)                once a token: all rows and `whole`, for chain rules that need
//                                     every row of a token
//   all_of_column(j, column_gradients)
//                                     once a token and column, for tokens with rows that have
//                                     decays by element or a skip. No other member receives the
//                                     gradients of these decays and of the skip.
// at(op, place) may replace at(place); it also receives the operator.
// each_row(place, visit), as that of an operator, may list what is written for a token.
// rate(sequence, head, i, j, g) is an optional member of the gradients, for operators with rates.
// It receives, once a sequence, the gradient with respect to rate(head, i, j), summed over tokens
// (in double for float). For a time-invariant operator, row and whole are called once a head, at
// the place {0, 0, head}, with sums over tokens and sequences.

// `decay` is the gradient of the log decay or of the factor, whichever the token has.
template <class V>
struct element_gradient {
  V value, decay;
};
template <class V>
struct row_gradient {
  V decay, key, query, erase_read, erase_write;
};
template <class V>
struct token_gradient {
  V decay, direct;
};
// Each array has `rows` numbers, and the sink may overwrite them. Gradients of absent terms are
// zero. in_lanes: the layout of the operator and of its gradients allows lanes of rows.
template <class V>
struct all_gradients {
  index rows;
  bool in_lanes;
  V *decay, *key, *query, *erase_read, *erase_write;
  token_gradient<V> whole;
};
// decay: the gradients of the decays of all rows; null where decays are not by element. A sink with
// `static constexpr bool sums_decays = true` leaves there what is to be summed over columns: `row`
// and `all` receive the sums as the `decay` of each row.
// skip: zero where the token has no skip.
// step: the sum over rows of rate times decay; zero where the operator has no rates.
template <class V>
struct column_gradients {
  index rows;
  V value, skip, step;
  V* decay;
};

}  // namespace wane

namespace wane::impl {

// The gradients of an operator that names them, for a call in which they are a braced list.
template <class Op>
struct own_gradients_of {};
template <class Op>
requires requires { typename Op::gradients; }
struct own_gradients_of<Op> {
  using type = typename Op::gradients;
};
template <class Op>
using own_gradients = typename own_gradients_of<Op>::type;

template <class Gradients, class Op, class Time>
requires requires(Gradients const& gradients, place<Time> at) {
  gradients.at(at);
} || requires(Gradients const& gradients, Op const& op, place<Time> at) {
  gradients.at(op, at);
}
WANE_INLINE auto sink_at(Gradients const& gradients, Op const& op, place<Time> at) {
  if constexpr (requires { gradients.at(op, at); })
    return gradients.at(op, at);
  else
    return gradients.at(at);
}
template <class Gradients, class Op>
using sink_of =
    decltype(sink_at(std::declval<Gradients const&>(), std::declval<Op const&>(), place<>{}));

template <class Sink, class Column, class V>
concept takes_elements = requires(Sink sink, Column j, element_gradient<V> g) {
  sink.element(j, g);
};
template <class Sink, class Column, class V>
concept streams_elements = requires(Sink sink, Column j, element_gradient<V> g) {
  sink.stream(j, g);
};
template <class Sink, class Column, class V>
concept takes_columns = requires(Sink sink, Column j, V g) {
  sink.column(j, g);
};
template <class Sink, class V>
concept takes_rows = requires(Sink sink, index i, row_gradient<V> g) {
  sink.row(i, g);
};
template <class Sink, class V>
concept takes_tokens = requires(Sink sink, token_gradient<V> g) {
  sink.whole(g);
};
template <class Sink, class V>
concept takes_all = requires(Sink sink, all_gradients<V> g) {
  sink.all(g);
};
template <class Gradients, class V>
concept takes_rates = requires(Gradients const& gradients, index n, V g) {
  gradients.rate(n, n, n, n, g);
};
// Whether `rate` is a member function. Gradients may also have a tensor of that name.
template <class Gradients>
concept has_rate_member = requires {
  requires std::is_member_function_pointer_v<decltype(&Gradients::rate)>;
};
template <class Sink, class Column, class V>
concept takes_all_of_columns = requires(Sink sink, Column j, column_gradients<V> g) {
  sink.all_of_column(j, g);
};

template <class Sink>
concept sums_decays = requires {
  requires Sink::sums_decays;
};

// False where a sink has a member that takes another type than the recurrence computes in, because
// it would never be called. A member template takes any type.
template <class Sink, class V>
concept takes_what_it_names = (takes_elements<Sink, index, V> || !requires { &Sink::element; }) &&
                              (takes_columns<Sink, index, V> || !requires { &Sink::column; }) &&
                              (takes_rows<Sink, V> || !requires { &Sink::row; }) &&
                              (takes_tokens<Sink, V> || !requires { &Sink::whole; }) &&
                              (takes_all<Sink, V> || !requires { &Sink::all; }) &&
                              (takes_all_of_columns<Sink, index, V> ||
                               !requires { &Sink::all_of_column; });

}  // namespace wane::impl
