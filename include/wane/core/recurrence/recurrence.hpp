// The concepts of recurrences (time-invariant => scannable => affine), and their shapes and types.
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

// An operator whose at(place) returns a token with terms (wane/core/recurrence/terms.hpp).
template <class Op>
concept affine_recurrence = has_shape<Op> && requires(Op const& op, place<> at) {
  { op.at(at) } -> has_value;
};

// The token type of an operator at a kind of place.
template <class Op, class Time = index>
using token_of = decltype(std::declval<Op const&>().at(std::declval<place<Time>>()));

// An operator whose terms, or whose state, depend on the positions of tokens offers
// counts_positions(), which is true where they do. A state that it begins with must have positions.
template <class Op>
bool counts_positions(Op const& op) {
  if constexpr (requires { op.counts_positions(); })
    return op.counts_positions();
  else
    return false;
}

// An operator can offer with_tensors(moved), so that a runner can copy its tensors to faster
// memory. It returns the operator with each of its tensors x replaced: by moved.by_column(x) where
// x is [B, T, H, columns] and column j of the state reads column j alone, otherwise by
// moved.whole(x).
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
// A base class of operators offers move_tensors(moved) instead, which replaces its own tensors.
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

// The type an operator computes in: its member `accumulate`, or else the type of value(j).
// For a type that is no recurrence it is float, so that run can report the error in a sentence.
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

// The type of outputs before they are rounded: the member `output` of an operator, or else
// accumulate_type. An operator has it that computes in complex numbers but has real outputs.
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

// Two recurrences, first() and second(), whose outputs are combined (wane/core/state/pair.hpp).
// put_together(columns, a, b, write) calls write(j, y) for the outputs of a token, where a(j) and
// b(j) are the outputs of the parts.
template <class Op>
concept paired_recurrence = has_shape<Op> && requires(Op const& op, void (&write)(index, float)) {
  op.first().shape(), op.second().shape();
  op.put_together(
      index{}, [](index) { return 0.f; }, [](index) { return 0.f; }, write);
};

// No term reads the state (there is no erase_read), so pieces of a sequence have effects that
// compose.
template <class Op>
concept scannable = affine_recurrence<Op> && !has_erase<token_of<Op>>;

// All terms but value are the same for all tokens; the queries of a bank of poles may differ
// between sequences. An operator says so with a constant `is_time_invariant`.
template <class Op>
concept time_invariant = scannable<Op> && !strictly_causal<token_of<Op>> && requires {
  requires Op::is_time_invariant;
};

// Log decays by row that are the same for all tokens and heads, and have no gradient. An operator
// says so with a constant `has_constant_decays`.
template <class Op>
concept constant_decays = scannable<Op> && requires {
  requires Op::has_constant_decays;
} && has_row_log_decay<token_of<Op>>;

// Whether the log decays of all rows are in (-60, 0]: no row grows, or is reset. Decays below e^-60
// are treated as resets here.
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

// One row, where each column is a recurrence of its own: h_j <- w_j h_j + b_j. An operator says so
// with a constant `is_channelwise`.
template <class Op>
concept channelwise = scannable<Op> && requires {
  requires Op::is_channelwise;
} && !strictly_causal<token_of<Op>> && !has_key<token_of<Op>> && !has_query<token_of<Op>> &&
    !has_direct<token_of<Op>> && !has_skip<token_of<Op>>;

}  // namespace wane

namespace wane::impl {

template <class Op>
concept has_floor_of_tokens = requires(Op const& op, place<> at) {
  { op.floor(at) } -> std::convertible_to<accumulate_type<Op>>;
};
template <class Op>
inline constexpr bool divides_by_magnitude = requires {
  requires Op::divides_by_magnitude;
};
// The denominator or its magnitude, whichever is compared with the floor.
template <class Op, class V>
WANE_INLINE V compared_with_floor(V denominator) {
  return divides_by_magnitude<Op> && denominator < V(0) ? -denominator : denominator;
}

}  // namespace wane::impl

namespace wane {

// Outputs that are weighted means, y_j / max(y_last, floor()): the last column of S^T q is a
// denominator. It is no output, so outputs have one column less than the state. An operator says so
// with a member floor(), the least divisor, or floor(place), that of a token. With a constant
// `divides_by_magnitude` the divisor is max(|y_last|, floor).
template <class Op>
concept normalised_recurrence = affine_recurrence<Op> && !channelwise<Op> &&
                                (impl::has_floor_of_tokens<Op> || requires(Op const& op) {
                                  { op.floor() } -> std::convertible_to<accumulate_type<Op>>;
                                });

// max(denominator, floor), and NaN where the denominator is NaN.
template <normalised_recurrence Op, class V>
WANE_INLINE V divisor_of(Op const& op, place<> at, V denominator) {
  V floor, size = impl::compared_with_floor<Op>(denominator);
  if constexpr (impl::has_floor_of_tokens<Op>)
    floor = op.floor(at);
  else
    floor = op.floor();
  return size < floor ? floor : size;
}

// The same operator without the division. Its outputs are the numerators and, in the last column,
// the denominator.
template <normalised_recurrence Op>
struct unnormalised : Op {
  WANE_HOST_DEVICE explicit unnormalised(Op const& op) : Op(op) {}
  void floor(auto...) const = delete;
};

//   check("output", output, output_shape_of(op));
//
// The shape of the outputs of an operator. Its columns differ from those of the state, op.shape(),
// for a normalised recurrence and where the operator has a member output_columns(); its heads where
// several substeps read (core/recurrence/substeps.hpp).
template <has_shape Op>
recurrence_shape output_shape_of(Op const& op) {
  recurrence_shape shape = op.shape();
  if constexpr (normalised_recurrence<Op>) shape.columns -= 1;
  if constexpr (requires { op.output_columns(); }) shape.columns = op.output_columns();
  if constexpr (requires { op.reading_substeps(); }) shape.heads *= op.reading_substeps();
  return shape;
}

// Decays by element of the form e^(rate step), where the rate is the same for all tokens. The
// operator has rate(head, i, j), and the token of a column, column_of(token, j), has step(j).
// Runners then keep the rates in registers or in a cache.
template <class Op, class Column = index>
concept has_rates = has_element_log_decay<token_of<Op>, Column> &&
    requires(Op const& op, place<> at, Column j) {
  op.rate(at.head, index{}, j);
  column_of(op.at(at), j).step(j);
};

// Whether simd<T> exists. Device code has no vectors, and nvcc reads host functions, too, when it
// compiles for a device.
template <class T>
#ifdef __CUDA_ARCH__
inline constexpr bool fits_simd = false;
#else
inline constexpr bool fits_simd = std::is_same_v<T, float> || std::is_same_v<T, double>;
#endif

// Whether the terms of an operator can be read in lanes of columns. It has layout(), and its value,
// its skip and its decays by element, where present, all take lanes.
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

// Whether the terms can also be read in lanes of tokens, for operators with few channels.
template <class Op>
concept reads_tokens = reads_lanes<Op> && requires(Op const& op) {
  op.at(place<time_lanes<simd_width<accumulate_type<Op>>, 1>>{});
};

// An operator can offer each_row(place, visit), so that runners can prefetch a token. It calls
// visit(p, n) for each array that the token reads, n numbers from address p on.
struct visit_of_nothing {
  WANE_HOST_DEVICE void operator()(auto const*, index) const {}
};
template <class Op>
concept knows_rows = requires(Op const& op) {
  op.each_row(place<>{}, visit_of_nothing{});
};
// Visits a single number of a token and head, if the visit has a member `number`. A GPU prefetches
// these; on a CPU one cache line holds the numbers of many heads, and prefetching gains nothing.
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
