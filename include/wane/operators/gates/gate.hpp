// gate: gives the log decay of a token, for a head or for each row of a head.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <utility>

#include "wane/core/recurrence/checks.hpp"
#include "wane/core/recurrence/named.hpp"

namespace wane {

// Log decays are natural logarithms, <= 0. A tensor of log decays is a gate: a token_view, [B, T,
// H], for heads, a sequence_view, [B, T, H, K], for rows. So is any type with read(place) or
// read(place, row):
//   struct half_gate {  // every token halves the state
//     float read(wane::place<>) const { return std::log(0.5f); }
//   };
//   wane::gla const memory(wane::keyed_inputs<float>{...}, half_gate{});
template <class G>
concept head_gate = requires(G const& gate, place<> at) {
  gate.read(at);
};
template <class G>
concept row_gate = requires(G const& gate, place<> at, index i) {
  gate.read(at, i);
};

// The gate of a memory that never forgets.
struct no_gate {};
template <class G>
concept any_gate = head_gate<G> || row_gate<G> || std::same_as<G, no_gate>;

}  // namespace wane

namespace wane::impl {

// What an operator deduces from its gate: the gate as it holds it, and the type of its tensors.
template <class G>
struct gate_deduction {
  using gate = G;
};
template <class T, int Rank>
struct gate_deduction<view<T, Rank>> {
  using gate = view<T const, Rank>;
  using number = std::remove_const_t<T>;
};
template <class G>
requires requires { typename G::raw_type::value_type; }
struct gate_deduction<G> {
  using gate = G;
  using number = typename G::raw_type::value_type;
};
template <class G>
using deduced_gate = typename gate_deduction<G>::gate;
template <class G>
using deduced_number = typename gate_deduction<G>::number;
// The same for operators that take gates of heads, or of rows. Of another kind of gate they deduce
// the default, so that gate_from() refuses it with a sentence.
template <class G, class Io>
using deduced_gate_of_heads =
    std::conditional_t<head_gate<deduced_gate<G>>, deduced_gate<G>, token_view<Io const>>;
template <class G, class Io>
using deduced_gate_of_rows =
    std::conditional_t<row_gate<deduced_gate<G>>, deduced_gate<G>, sequence_view<Io const>>;
// Inputs of another type than the gate's, or a gate that tells no type.
template <class G, class Io>
concept other_gate = !requires {
  requires std::same_as<deduced_number<G>, Io>;
};

// The gate of an operator, from what is given for it.
template <class Gate, class Given>
Gate gate_from(Given const& given) {
  constexpr bool fits = std::is_convertible_v<Given const&, Gate>;
  constexpr bool rows_for_heads = !fits && row_gate<Given> && !row_gate<Gate>;
  constexpr bool heads_for_rows = !fits && head_gate<Given> && !head_gate<Gate>;
  static_assert(!rows_for_heads,
                "wane: the log decays, or the gate, are of rows, [B, T, H, K]; this operator takes "
                "those of heads, [B, T, H]");
  static_assert(!heads_for_rows,
                "wane: the log decays, or the gate, are of heads, [B, T, H]; this operator takes "
                "those of rows, [B, T, H, K]");
  static_assert(std::is_convertible_v<Given const&, Gate> || rows_for_heads || heads_for_rows,
                "wane: the gate has another type than the operator names; leave out the template "
                "arguments of the operator, and it takes the type of the gate");
  if constexpr (fits) return given;
}

// The view that takes the gradient of the log decays: [B, T, H] or [B, T, H, K], of the type of the
// tensor of log decays if the gate is one, otherwise of the operator's inputs.
template <class G, class T>
struct gate_gradient_of {
  struct type {};
};
template <head_gate G, class T>
struct gate_gradient_of<G, T> {
  using type = named<"log_decay", token_view<T>>;
};
template <row_gate G, class T>
struct gate_gradient_of<G, T> {
  using type = named<"log_decay", sequence_view<T>>;
};
template <class Decay, int Rank, class T>
struct gate_gradient_of<view<Decay const, Rank>, T> {
  using type = named<"log_decay", view<Decay, Rank>>;
};
template <class G, class T>
using gate_gradient = typename gate_gradient_of<G, T>::type;

// Throws wane::error when a tensor of log decays does not fit.
template <class G>
void check_gate(G const& gate, recurrence_shape const& shape) {
  if constexpr (requires { gate.check(shape); }) gate.check(shape);
}
template <class T>
void check_gate(token_view<T> const& gate, recurrence_shape const& shape) {
  check("log_decay", gate, shape);
}
template <class T>
void check_gate(sequence_view<T> const& gate, recurrence_shape const& shape) {
  check("log_decay", gate, shape_of_rows(shape));
}

// Throws wane::error for a parameter of a gate that is out of range.
template <class G>
void check_gate_parameters(G const& gate) {
  if constexpr (requires { gate.check_parameters(); }) gate.check_parameters();
}

// Throws wane::error when a gradient of log decays that is present does not fit.
template <class Gradient>
void check_gate_gradient(Gradient const& to, recurrence_shape const& shape) {
  if constexpr (requires { to.data; })
    check_if_present("the gradient of log_decay", to, shape_of_rows(shape));
}

// Moves the tensors of a gate to other memory.
template <class G, class Moved>
WANE_HOST_DEVICE void move_gate(G& gate, Moved const& moved) {
  if constexpr (requires { gate.move_tensors(moved); })
    gate.move_tensors(moved);
  else if constexpr (requires { moved.whole(gate).data; })
    gate = moved.whole(gate);
}

// Whether rows of a gate may be read in lanes.
template <class G>
wane::layout layout_of_gate(G const& gate) {
  if constexpr (requires { layout_of(gate); })
    return layout_of(gate);
  else if constexpr (requires { gate.layout(); })
    return gate.layout();
  else
    return {true, true, true};
}

// Visits the memory that a gate reads for a token; see knows_rows.
template <class G>
WANE_INLINE void each_row_of_gate(G const& gate, place<> where, auto const& visit) {
  if constexpr (requires { gate.each_row(where, visit); })
    gate.each_row(where, visit);
  else if constexpr (row_gate<G> && requires { gate.element(where, index{}); })
    visit(gate.element(where, 0), gate.extent[3]);
  else if constexpr (requires { gate.element(where); })
    visit_number(visit, gate.element(where));
}

// A gate of rows at one token, with read(i). A gate that computes something once for each token
// does so in a member at(place), whose result has read(i) too.
template <class Gate>
struct gate_at_token {
  Gate const& gate;
  place<> where;

  WANE_INLINE auto read(auto i) const { return gate.read(where, i); }
};
template <class Gate>
WANE_INLINE auto gate_at(Gate const& gate, place<> where) {
  if constexpr (requires { gate.at(where); })
    return gate.at(where);
  else
    return gate_at_token<Gate>{gate, where};
}

// The log decay of a token, which derives from this. The gate of a head is read once.
template <class Accumulate, class Gate>
struct gate_terms {
  WANE_INLINE gate_terms(no_gate, place<>) {}
};
template <class Accumulate, head_gate Gate>
struct gate_terms<Accumulate, Gate> {
  Accumulate of_head;

  WANE_INLINE gate_terms(Gate const& gate, place<> where)
      : of_head(static_cast<Accumulate>(gate.read(where))) {}
  WANE_INLINE Accumulate log_decay() const { return of_head; }
};
template <class Accumulate, row_gate Gate>
struct gate_terms<Accumulate, Gate> {
  decltype(gate_at(std::declval<Gate const&>(), place<>{})) gate;

  WANE_INLINE gate_terms(Gate const& of, place<> where) : gate(gate_at(of, where)) {}
  WANE_INLINE auto log_decay(auto i) const { return convert<Accumulate>(gate.read(i)); }
};

}  // namespace wane::impl
