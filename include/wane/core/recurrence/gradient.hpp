// What the adjoint of a runner hands an operator: gradients with respect to a token's terms.
// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "wane/core/recurrence/place.hpp"

namespace wane {

// An operator's gradients are an object whose at(place) gives a sink with some of these members;
// a gradient that the sink has no member for is not delivered. Its check(shape), check(shape,
// sequences) or check(op) throws wane::error where its tensors do not fit. Gradients of complex
// terms are d/dRe + j d/dIm.
//   element(j, element_gradient)      for channelwise recurrences, once a token and column
//   column(j, value)                  d/d value(j), once a token and column
//   row(i, row_gradient)              once a token and row
//   whole(token_gradient)             once a token
//   all(all_gradients)                once a token: rows and whole together, for chain rules that
//                                     need every row of a token
//   all_of_column(j, column_gradients)
//                                     once a token and column, of tokens with rows that decay by
//                                     element or have a skip: the decays and the skip go here alone
// at(op, place), where it is there instead, is also told which operator was run.
// rate(sequence, head, i, j, g), where it is there, receives once a sequence the gradient with
// respect to rate(head, i, j) of an operator that has rates, summed over tokens, in double for
// float. A time-invariant operator gets row and whole once a head, summed over tokens and
// sequences, at the place {0, 0, head}.

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
// in_lanes: the operator and its gradients lie so that rows may be treated in lanes.
template <class V>
struct all_gradients {
  index rows;
  bool in_lanes;
  V *decay, *key, *query, *erase_read, *erase_write;
  token_gradient<V> whole;
};
// `decay` holds that of each row, nothing where the decays are not by element; skip is zero where a
// token has none, and step, the sum over rows of rate times decay, where it has no rates.
template <class V>
struct column_gradients {
  index rows;
  V value, skip, step;
  V const* decay;
};

}  // namespace wane

namespace wane::impl {

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
template <class Gradients, class V>
concept takes_rates = requires(Gradients const& gradients, index n, V g) {
  gradients.rate(n, n, n, n, g);
};
// A tensor may have that name too.
template <class Gradients>
concept has_rate_member = requires {
  requires std::is_member_function_pointer_v<decltype(&Gradients::rate)>;
};
template <class Sink, class Column, class V>
concept takes_all_of_columns = requires(Sink sink, Column j, column_gradients<V> g) {
  sink.all_of_column(j, g);
};

// A member that is there, but takes another type than the recurrence computes in, would never be
// called. (A template takes what it is given.)
template <class Sink, class V>
concept takes_what_it_names = (takes_elements<Sink, index, V> || !requires { &Sink::element; }) &&
                              (takes_columns<Sink, index, V> || !requires { &Sink::column; }) &&
                              (takes_rows<Sink, V> || !requires { &Sink::row; }) &&
                              (takes_tokens<Sink, V> || !requires { &Sink::whole; }) &&
                              (takes_all<Sink, V> || !requires { &Sink::all; }) &&
                              (takes_all_of_columns<Sink, index, V> ||
                               !requires { &Sink::all_of_column; });

}  // namespace wane::impl
