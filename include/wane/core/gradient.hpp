// What the adjoint of a runner hands an operator: gradients with respect to a token's terms.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/place.hpp"

namespace wane {

// An operator's gradients are an object whose at(place) gives a sink with some of these members;
// a gradient nobody takes is not delivered. Its check(shape), if it has one, throws
// wane::error where its tensors do not fit. Gradients of complex terms are d/dRe + j d/dIm.
//   element(j, element_gradient)      for channelwise recurrences, once a token and column
//   column(j, value)                  d/d value(j), once a token and column
//   row(i, row_gradient)              once a token and row
//   whole(token_gradient)             once a token
//   all(all_gradients)                once a token: rows and whole together, for chain rules that
//                                     need every row of a token
// at(op, place), where it is there instead, is also told which operator was run.
// A time-invariant operator gets row and whole once a head, summed over tokens and sequences, at
// the place {0, 0, head}.

// `decay` is with respect to the log decay or the factor, whichever the token states.
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
// `rows` numbers each, which the sink may write over; those of terms that a token has not are zero.
template <class V>
struct all_gradients {
  index rows;
  V *decay, *key, *query, *erase_read, *erase_write;
  token_gradient<V> whole;
};

template <class Gradients, class Op>
WANE_INLINE auto sink_at(Gradients const& gradients, Op const& op, place<> at) {
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

// A member that is there, but takes another type than the recurrence computes in, would never be
// called. (A template takes what it is given.)
template <class Sink, class V>
concept takes_what_it_names = (takes_elements<Sink, index, V> || !requires { &Sink::element; }) &&
                              (takes_columns<Sink, index, V> || !requires { &Sink::column; }) &&
                              (takes_rows<Sink, V> || !requires { &Sink::row; }) &&
                              (takes_tokens<Sink, V> || !requires { &Sink::whole; }) &&
                              (takes_all<Sink, V> || !requires { &Sink::all; });

}  // namespace wane
