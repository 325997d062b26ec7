// The checks at the start of a call: shapes and parameters of an operator, its states and outputs.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "wane/core/call/adjoint_options.hpp"
#include "wane/core/recurrence/parameter_gradient.hpp"
#include "wane/core/recurrence/penalised_memory.hpp"
#include "wane/core/recurrence/poles.hpp"
#include "wane/core/recurrence/substeps.hpp"

namespace wane::impl {

// Fails to compile, with a sentence, where the terms of a token contradict each other.
template <class Op>
consteval void check_terms() {
  using Token = token_of<Op>;
  static_assert(
      has_erase<Token> || !has_erase_write<Token>,
      "wane: a token with erase_write has erase_read too: what is erased, and where it was "
      "read");
  constexpr int ways = has_log_decay<Token> + has_row_log_decay<Token> +
                       has_element_log_decay<Token> + has_plain_decay<Token> +
                       has_row_plain_decay<Token> + has_element_plain_decay<Token>;
  static_assert(ways <= 1,
                "wane: a token states its decay in one way: as log_decay or decay, for the head, "
                "by row, or by element");
  if constexpr (requires { requires Op::is_channelwise; })
    static_assert(channelwise<Op> && decays_by_element<Token>,
                  "wane: a token of a channelwise recurrence has value(j) and log_decay(i, j) or "
                  "decay(i, j), and no other term");
  static_assert(
      !has_element_query<Token> || pole_bank<Op>,
      "wane: query(i, j) is for banks of poles (wane/core/recurrence/poles.hpp); elsewhere a query "
      "is that of a row");
  using V = accumulate_type<Op>;
  using D = decltype(decay_of(std::declval<Token>(), index{}, index{}));
  static_assert(std::is_same_v<D, no_decay> || std::is_same_v<D, plain_decay<V>> ||
                    std::is_same_v<D, split_decay<V>>,
                "wane: decays must be of the type the recurrence computes in, that of its values");
}

// Throws wane::error for the first bad extent of an operator.
inline void refuse_extents(recurrence_shape const& shape, index columns) {
  index const extents[] = {shape.batch, shape.time, shape.heads, shape.rows, columns};
  char const* const names[] = {"batch", "time", "heads", "rows", "columns"};
  for (int i = 0; i < 5; ++i)
    require(extents[i] >= (i == 1 ? 0 : 1), "the operator has ", names[i], " ", extents[i],
            "; it must be ", i == 1 ? "0 or more" : "1 or more");
}

// The shape of an operator. Throws wane::error for bad extents or absent tensors; reads no data.
template <class Op>
recurrence_shape checked_extents(Op const& op) {
  if constexpr (affine_recurrence<Op>) check_terms<Op>();
  recurrence_shape const shape = op.shape();
  index const columns = output_shape_of(op).columns;
  if (std::min({shape.batch, shape.time + 1, shape.heads, shape.rows, columns}) < 1)
    refuse_extents(shape, columns);
  if constexpr (channelwise<Op>)
    require(shape.rows == 1, "the operator has rows ", shape.rows,
            "; a channelwise recurrence has 1: each column is one of its own");
  if constexpr (requires { op.check_inputs(); }) op.check_inputs();
  return shape;
}

// Throws wane::error where an operator has parameters of each sequence, and they are not of so many
// sequences. Such an operator has check_sequences(sequences).
template <class Op>
void check_sequences_of(Op const& op, index sequences) {
  if constexpr (requires { op.check_sequences(sequences); }) op.check_sequences(sequences);
}
// Looks at the parameters. The host must be able to read them.
template <class Op>
void check_parameters_of(Op const& op) {
  if constexpr (requires { op.check_parameters(); }) op.check_parameters();
}

// As checked_extents, and also checks the parameters, those of each sequence as well.
template <class Op>
recurrence_shape checked_shape(Op const& op, packed_sequences const& packed = {}) {
  recurrence_shape const shape = checked_extents(op);
  check_sequences_of(op, sequences_of(shape, packed));
  check_parameters_of(op);
  return shape;
}

// Throws wane::error where a kept state does not fit, or has fewer tokens than the one before it.
template <class State>
void check_kept_states(std::span<kept_state<State> const> keep, index sequences,
                       recurrence_shape const& shape) {
  index before = 0;
  for (kept_state<State> const& kept : keep) {
    require(kept.tokens >= before, "keep has tokens ", kept.tokens, " after ", before,
            "; they must not fall, nor be less than 0");
    require(kept.state.present() || sequences == 0,
            "keep has a state without data; it must point to its values");
    check_state("a state of keep", kept.state, sequences, shape);
    before = kept.tokens;
  }
}

// Whether each column of the state is a recurrence of its own, forward.
template <class Op>
inline constexpr bool has_own_columns =
    (affine_recurrence<Op> && !normalised_recurrence<Op>) || pole_bank<Op>;
// Whether the adjoint can go back through some sequences alone, and through some heads alone. The
// gradients of other operators are sums over all sequences and heads of a call.
template <class Op>
inline constexpr bool goes_back_by_sequence = affine_recurrence<Op> && !time_invariant<Op>;
template <class Op>
inline constexpr bool goes_back_by_head = goes_back_by_sequence<Op> || penalised_memory<Op>;

// What a box may cut.
struct box_cuts {
  bool sequences, heads, columns;
};
// Throws wane::error where a box reaches beyond the states, or cuts what depends on each other.
template <class Options>
void check_box(recurrence_shape const& shape, Options const& options, box_cuts const& may_cut) {
  state_box const box = box_of(shape, options);
  auto const check = [](char const* name, index first, index count, index all, bool can_be_cut) {
    require(first >= 0 && count >= 0 && first + count <= all, "box has ", name, " ", first, " to ",
            first + count, "; they must lie in 0 to ", all);
    require(can_be_cut || count == all, "box has ", count, " of ", all, " ", name,
            "; this call takes all of them at once");
  };
  check("sequences", box.first_sequence, box.sequences, sequences_of(shape, options.packed),
        may_cut.sequences);
  check("heads", box.first_head, box.heads, shape.heads, may_cut.heads);
  check("columns", box.first_column, box.columns, shape.columns, may_cut.columns);
  index const last = box.first_column + box.columns;
  require(box.first_column % 16 == 0 && (last % 16 == 0 || last == shape.columns),
          "box has columns ", box.first_column, " to ", last, "; both must be multiples of 16, or ",
          last, " the number of columns, ", shape.columns);
}

// The largest position of a state: substeps are counted too, and a place a little beyond the last
// token is still an index. (wane/core/recurrence/substeps.hpp says where the square comes from.)
template <class Op>
index largest_position(Op const& op) {
  index substeps = 1;
  if constexpr (has_substeps<Op>) substeps = op.substeps();
  return (index{1} << 60) / (substeps * substeps);
}
// Throws wane::error where a sequence has seen less than nothing, or would see more than `most`
// tokens. `positions` are those of all sequences, or null.
inline void check_positions_left(char const* name, index const* positions, index most, index time,
                                 packed_sequences const& packed, std::span<index const> lengths,
                                 index sequences) {
  for (index n = 0; positions && n < sequences; ++n) {
    token_range const own = tokens_of(n, time, packed, lengths);
    index const count = own.end - own.begin;
    require(0 <= positions[n] && positions[n] <= most - count, name, " has position ", positions[n],
            " of sequence ", n, "; it must be 0 or more, and at most ", most, " after the ", count,
            " tokens of this call");
  }
}

// Throws wane::error where an argument of a run does not fit. Returns the number of sequences.
template <class Op, class Out, class State>
index check_run(Op const& op, sequence_view<Out> const& output, run_options<State> const& options) {
  recurrence_shape const shape = checked_shape(op, options.packed);
  check("output", output, output_shape_of(op));
  check_sequences(options.packed, options.lengths, shape.batch, shape.time);
  index const sequences = sequences_of(shape, options.packed);
  check_state("initial", options.initial, sequences, shape);
  check_positions("initial", op, options.initial);
  check_positions_left("initial", options.initial.positions, largest_position(op), shape.time,
                       options.packed, options.lengths, sequences);
  check_state("final", options.final, sequences, shape);
  check_kept_states(options.keep, sequences, shape);
  check_box(shape, options, {true, true, has_own_columns<Op>});
  return sequences;
}

// Throws wane::error where an argument of an adjoint does not fit. Returns the number of sequences.
template <class Op, class Out, class State>
index check_shapes(Op const& op, sequence_view<Out> const& output_gradient,
                   adjoint_options<State> const& options) {
  recurrence_shape const shape = checked_shape(op, options.packed);
  check("output_gradient", output_gradient, output_shape_of(op));
  check_sequences(options.packed, options.lengths, shape.batch, shape.time);
  index const sequences = sequences_of(shape, options.packed);
  check_state("initial", options.initial, sequences, shape);
  check_positions("initial", op, options.initial);
  check_positions_left("initial", options.initial.positions, largest_position(op), shape.time,
                       options.packed, options.lengths, sequences);
  check_if_present("outputs", options.outputs, output_shape_of(op));
  check_state("final_gradient", options.final_gradient, sequences, shape);
  check_state("initial_gradient", options.initial_gradient, sequences, shape);
  check_box(shape, options, {goes_back_by_sequence<Op>, goes_back_by_head<Op>, channelwise<Op>});
  return sequences;
}

// Throws wane::error where a tensor of `to` does not fit the operator. A check is optional for the
// type of `to`, and may take the shape, the operator, or the shape and the number of sequences.
template <class Op, class Gradients>
void check_gradients(Op const& op, Gradients const& to, index sequences) {
  recurrence_shape const shape = op.shape();
  if constexpr (requires { to.check(shape); }) to.check(shape);
  if constexpr (requires { to.check(op); }) to.check(op);
  if constexpr (requires { to.check(shape, sequences); }) to.check(shape, sequences);
  if constexpr (has_parameters<Gradients>)
    Gradients::each_parameter(
        to, shape, [](auto const& x, auto... extents) { check_parameter_gradient(x, extents...); });
}

}  // namespace wane::impl
