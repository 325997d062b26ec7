// The lattice of recurrences: affine > scannable > time-invariant, and their shape.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

#include "wane/core/recurrence/terms.hpp"
#include "wane/core/recurrence/view.hpp"

namespace wane {

// B sequences of T tokens, H heads, and in each head a state of rows x columns.
struct recurrence_shape {
  index batch = 1, time = 0, heads = 1, rows = 1, columns = 1;
  bool operator==(recurrence_shape const&) const = default;
};

template <class Op>
concept has_shape = requires(Op const& op) {
  { op.shape() } -> std::convertible_to<recurrence_shape>;
};

// An operator turns a place into a token: its terms (wane/core/recurrence/terms.hpp).
template <class Op>
concept affine_recurrence = has_shape<Op> && requires(Op const& op, place<> at) {
  { op.at(at) } -> has_value;
};

// The token type of an operator at a kind of place.
template <class Op, class Time = index>
using token_of = decltype(std::declval<Op const&>().at(std::declval<place<Time>>()));

// An operator may say how it is put on other memory, so that a runner can bring its tensors nearer:
// with_tensors(moved) returns the operator with every tensor x, [B, T, H, columns], that a token
// reads only in its own column, replaced by moved.by_column(x), and every other by moved.whole(x).
struct same_tensors {
  template <class View>
  WANE_HOST_DEVICE View by_column(View const& x) const {
    return x;
  }
  template <class View>
  WANE_HOST_DEVICE View whole(View const& x) const {
    return x;
  }
};
// One that others derive from has move_tensors(moved) instead, which does so to itself.
template <class Op>
concept copies_with_tensors = requires(Op const& op) {
  { op.with_tensors(same_tensors{}) } -> std::same_as<Op>;
};
template <class Op>
concept movable_tensors = copies_with_tensors<Op> || requires(Op& op) {
  op.move_tensors(same_tensors{});
};
template <movable_tensors Op, class Moved>
WANE_HOST_DEVICE Op on_other_memory(Op const& op, Moved const& moved) {
  if constexpr (copies_with_tensors<Op>) {
    return op.with_tensors(moved);
  } else {
    Op other = op;
    other.move_tensors(moved);
    return other;
  }
}

// The type an operator computes in: that of its values.
// (A type that is no recurrence is given float, so that the door can say what is wrong.)
template <class Op>
struct accumulate_type_of {
  using type = float;
};
template <class Op>
requires affine_recurrence<Op> &&
    (!requires { typename Op::accumulate; }) struct accumulate_type_of<Op> {
  using type = std::remove_cvref_t<decltype(std::declval<token_of<Op>>().value(index{}))>;
};
template <class Op>
requires requires { typename Op::accumulate; }
struct accumulate_type_of<Op> {
  using type = typename Op::accumulate;
};
template <class Op>
using accumulate_type = typename accumulate_type_of<Op>::type;

// The type its outputs are rounded from: that too, unless the operator names one, `output`. One
// that computes in complex numbers and answers with their real parts does.
template <class Op>
struct output_type_of {
  using type = accumulate_type<Op>;
};
template <class Op>
requires requires { typename Op::output; }
struct output_type_of<Op> {
  using type = typename Op::output;
};
template <class Op>
using output_type = typename output_type_of<Op>::type;

// A recurrence that is not affine in its state brings its own step, advance(at, state, write):
// `state` is a view of rows x columns to update, write(j, y) takes output j. It names the type it
// computes in, `accumulate`, and runs in order.
template <class Op>
concept stepwise_recurrence = has_shape<Op> && requires {
  typename Op::accumulate;
} && requires(Op const& op, place<> at, view<typename Op::accumulate, 2> state,
              void (&write)(index, typename Op::accumulate)) {
  op.advance(at, state, write);
};

// Two recurrences whose outputs are put together (wane/core/state/pair.hpp): put_together(columns,
// a, b, write) makes outputs of a token of those of its parts, first() and second().
template <class Op>
concept paired_recurrence = has_shape<Op> && requires(Op const& op, void (&write)(index, float)) {
  op.first().shape(), op.second().shape();
  op.put_together(
      index{}, [](index) { return 0.f; }, [](index) { return 0.f; }, write);
};

// Nothing a token brings looks at the state: pieces of a sequence have effects that compose.
template <class Op>
concept scannable = affine_recurrence<Op> && !has_erase<token_of<Op>>;

// Only value depends on the token; an operator says so with a member `is_time_invariant`.
template <class Op>
concept time_invariant = scannable<Op> && !strictly_causal<token_of<Op>> && requires {
  requires Op::is_time_invariant;
};

// Decays by row that are constants: the same for all tokens and heads, and without a gradient. An
// operator says so with a member `has_constant_decays`.
template <class Op>
concept constant_decays = scannable<Op> && requires {
  requires Op::has_constant_decays;
} && has_row_log_decay<token_of<Op>>;

// Whether no row is reset (a decay of e^-60 may be), or grows.
template <scannable Op>
requires(constant_decays<Op> || time_invariant<Op>) bool only_fades(Op const& op) {
  recurrence_shape const shape = op.shape();
  if (shape.batch * shape.time * shape.heads == 0) return false;
  for (index h = 0; h < shape.heads; ++h)
    for (index i = 0; i < shape.rows; ++i) {
      auto const log_decay = op.at(place<>{0, 0, h}).log_decay(i);
      if (!(log_decay <= 0 && log_decay > -60)) return false;
    }
  return true;
}

// One row, and each column its own recurrence: h_j <- w_j h_j + b_j.
template <class Op>
concept channelwise = scannable<Op> && requires {
  requires Op::is_channelwise;
} && !strictly_causal<token_of<Op>> && !has_key<token_of<Op>> && !has_query<token_of<Op>> &&
    !has_direct<token_of<Op>> && !has_skip<token_of<Op>>;

// Outputs that are weighted means: the last column of y is a denominator, which divides the others
// and is no output itself, so that outputs have one column less than the state. An operator says so
// with a member floor(), below which no divisor falls: y_j / max(y_last, floor()).
template <class Op>
concept normalised_recurrence =
    affine_recurrence<Op> && !channelwise<Op> && requires(Op const& op) {
  { op.floor() } -> std::convertible_to<accumulate_type<Op>>;
};

// The divisor for a denominator: the floor where it is less; NaN stays NaN.
template <normalised_recurrence Op, class V>
WANE_INLINE V divisor_of(Op const& op, V denominator) {
  V const floor = op.floor();
  return denominator < floor ? floor : denominator;
}

// The same operator before its division: numerators and, last, denominators, as many columns as the
// state has.
template <normalised_recurrence Op>
struct unnormalised : Op {
  WANE_HOST_DEVICE explicit unnormalised(Op const& op) : Op(op) {}
  void floor() const = delete;
};

// The shape of the outputs of an operator; shape() is that of its state. An operator with a step of
// its own may have a member output_columns(): the columns of its outputs, where they are others.
template <has_shape Op>
recurrence_shape output_shape_of(Op const& op) {
  recurrence_shape shape = op.shape();
  if constexpr (normalised_recurrence<Op>) shape.columns -= 1;
  if constexpr (requires { op.output_columns(); }) shape.columns = op.output_columns();
  return shape;
}

// Decays by element that are e^(rate step), the rate the same for all tokens: an operator says so
// with a member rate(head, i, j), and its tokens with step(j), which at_column(j) finds once.
// Runners then hold the rates where they are near.
template <class Op, class Column = index>
concept has_rates = has_element_log_decay<token_of<Op>, Column> &&
    requires(Op const& op, place<> at, Column j) {
  op.rate(at.head, index{}, j);
  column_of(op.at(at), j).step(j);
};

// Device code has no vectors; nvcc looks at host functions too when it compiles for a device.
template <class T>
#ifdef __CUDA_ARCH__
inline constexpr bool fits_simd = false;
#else
inline constexpr bool fits_simd = std::is_same_v<T, float> || std::is_same_v<T, double>;
#endif

// Whether an operator can be read in lanes of columns. (One whose values can and whose decays by
// element or skips cannot is read number by number.)
template <class Op>
concept reads_lanes = fits_simd<accumulate_type<Op>> && requires(Op const& op) {
  { op.layout() } -> std::convertible_to<layout>;
} && has_value<token_of<Op>, lanes<simd_width<accumulate_type<Op>>>> &&
    (!decays_by_element<token_of<Op>> ||
     decays_by_element<
         token_of<Op>,
         lanes<simd_width<accumulate_type<Op>>>>)&&(!has_skip<token_of<Op>> ||
                                                    has_skip<
                                                        token_of<Op>,
                                                        lanes<simd_width<accumulate_type<Op>>>>);

// Whether one with few channels can also be read in lanes of tokens.
template <class Op>
concept reads_tokens = reads_lanes<Op> && requires(Op const& op) {
  op.at(place<time_lanes<simd_width<accumulate_type<Op>>, 1>>{});
};

// An operator may say where a token lies, so that it can be brought near in time:
// each_row(at, visit) calls visit(p, n) for the n neighbours at p that a token reads, and others.
struct visit_of_nothing {
  WANE_HOST_DEVICE void operator()(auto const*, index) const {}
};
template <class Op>
concept knows_rows = requires(Op const& op) {
  op.each_row(place<>{}, visit_of_nothing{});
};
// A number of the token's head alone, for visits that have `number`: on a CPU one line has those of
// many heads.
template <class T>
WANE_INLINE void visit_number(auto const& visit, T const* x) {
  if constexpr (requires { visit.number(x); }) visit.number(x);
}

template <has_shape Op>
layout layout_of(Op const& op) {
  if constexpr (reads_lanes<Op>)
    return op.layout();
  else
    return {};
}

}  // namespace wane
