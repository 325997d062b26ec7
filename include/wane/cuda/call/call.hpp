// workspace, and the checks that every call of wane::cuda makes without reading a tensor.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/call/checks.hpp"
#include "wane/core/call/run_options.hpp"
#include "wane/core/recurrence/diagonal_recurrence.hpp"
#include "wane/core/recurrence/penalised_memory.hpp"
#include "wane/cuda/call/run_arguments.hpp"

namespace wane::cuda {

// Memory that the caller lends for the time of a call, aligned to 16 bytes as cudaMalloc does; its
// contents mean nothing before or after.
//   std::size_t const bytes = wane::cuda::workspace_bytes(op);
//   wane::cuda::workspace lent{nullptr, bytes};
//   wane::cuda::throw_on_error(cudaMalloc(&lent.data, bytes), "cudaMalloc");
struct workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

}  // namespace wane::cuda

namespace wane::cuda::impl {

// A token whose pairs are numbers for all columns alike.
template <class Token>
concept keyed_token =
    has_key<Token> && has_query<Token> && !(decays_by_element<Token> || has_skip<Token>);
template <class Op>
inline constexpr bool computes_in_float =
    std::is_same_v<accumulate_type<Op>, float>&& std::is_same_v<output_type<Op>, float>;
// Memories with keys that compute in float: they run in chunks, but for those whose decays are
// constants, which a scan finds once. Those that do not erase can be scanned, too.
template <class Op>
concept chunkable = affine_recurrence<Op> && computes_in_float<Op> && keyed_token<token_of<Op>> &&
    !(normalised_recurrence<Op> || time_invariant<Op> || constant_decays<Op>);

// Penalised memories whose S does: a kernel of their own finds where it is written.
template <class Op>
concept penalised_in_chunks =
    penalised_memory<Op> && chunkable<decltype(std::declval<Op const&>().memory({}, index{}))>;

// Sentences for what no kernel can do.
template <class Op>
consteval void check_operator() {
  static_assert(
      diagonal_recurrence<Op>,
      "wane::cuda::run: this type is no recurrence; it needs shape() and at(place), which "
      "gives a token with value(j); see wane/core/recurrence/recurrence.hpp");
  static_assert(
      !diagonal_recurrence<Op> || scannable<Op> || chunkable<Op> || penalised_in_chunks<Op>,
      "wane::cuda::run: only recurrences whose tokens do not look at the state, and "
      "memories that erase and compute in float, run on a GPU; this one erases in "
      "another type, or has a step of its own");
  static_assert(!normalised_recurrence<Op>,
                "wane::cuda::run: outputs are not divided by a denominator here; run "
                "wane::unnormalised(op), whose last column is the denominator, and divide");
  static_assert(std::is_trivially_copyable_v<Op>,
                "wane::cuda::run: an operator is copied to the device as it is, so it must be "
                "trivially copyable: views and numbers, no vectors or references");
}
template <class Op, class Out>
consteval void check_run() {
  check_operator<Op>();
  static_assert(!std::is_const_v<Out>,
                "wane::cuda::run: the output is a view of constants; it must be writable");
}

// The number of states of a call that is found good; its starts may lie on a device.
template <class Options>
index checked_sequences(recurrence_shape const& shape, Options const& options) {
  packed_sequences const& packed = options.packed;
  index const sequences = sequences_of(shape, packed);
  require(options.lengths.empty(),
          "lengths are given; on a GPU batches are not padded: pack their "
          "sequences end to end (packed)");
  require(!packed.present() || shape.batch == 1, "packed sequences lie in one row: batch is ",
          shape.batch, "; it must be 1");
  require(sequences > 0 || shape.time == 0,
          "packed.starts has one entry, so there is no sequence, but time is ", shape.time,
          "; it must be 0");
  return sequences;
}
inline void check_workspace(workspace const& memory, std::size_t bytes, char const* who_says) {
  require(memory.data || bytes == 0, "the workspace has no data; it must point to ", bytes,
          " bytes (wane::cuda::", who_says, " says so)");
  require(memory.bytes >= bytes, "the workspace has ", memory.bytes, " bytes; it must have ", bytes,
          " (wane::cuda::", who_says, " says so)");
  require(reinterpret_cast<std::uintptr_t>(memory.data) % 16 == 0,
          "the workspace is not aligned; it must begin at a multiple of 16 bytes");
}

// Of memories with keys a kernel takes so many rows at most.
template <class Config, class Op>
void check_rows(Op const& op) {
  index const rows = recurrence_shape(op.shape()).rows;
  require(rows <= Config::most_rows, "the operator has rows ", rows,
          "; of a memory with keys this call takes at most ", Config::most_rows,
          Config::most_rows < 256 ? " (run<256> and adjoint<256>: 256)" : "");
}

// The sequences of a call as a kernel sees them.
template <class Options>
sequence_list sequences_of_call(index time, index sequences, Options const& options) {
  bool const packed = options.packed.present();
  return {time, packed ? sequences : 0, packed ? options.packed.starts.data() : nullptr,
          options.initial.positions, options.direction == direction::forward ? 1 : -1};
}

// What a call of run gives any kernel, when it is found good.
template <class Op, class Out, class State>
run_arguments<Op, Out, State> checked_call(Op const& op, sequence_view<Out> const& output,
                                           run_options<State> const& options) {
  recurrence_shape const shape = checked_extents(op);
  check("output", output, output_shape_of(op));
  index const sequences = checked_sequences(shape, options);
  check_state("initial", options.initial, sequences, shape);
  check_state("final", options.final, sequences, shape);
  require(options.keep.empty(), "keep has ", options.keep.size(),
          " states; on a GPU states on the way are not kept, it must be empty");
  require(!options.packed.present() || !options.initial.present() ||
              options.initial.values.data != options.final.values.data,
          "initial and final are the same memory; of packed sequences they must not be");
  return {op,
          output,
          options.initial.values,
          options.final.values,
          options.final.positions,
          sequences_of_call(shape.time, sequences, options),
          sequences};
}

// The number of states of a call of adjoint that is found good.
template <class Op, class Out, class Gradients, class State>
index checked_adjoint_call(Op const& op, sequence_view<Out> const& output_gradient,
                           Gradients const& gradients, adjoint_options<State> const& options) {
  recurrence_shape const shape = checked_extents(op);
  check("output_gradient", output_gradient, output_shape_of(op));
  index const sequences = checked_sequences(shape, options);
  check_gradients(op, gradients, sequences);
  check_state("initial", options.initial, sequences, shape);
  check_state("final_gradient", options.final_gradient, sequences, shape);
  check_state("initial_gradient", options.initial_gradient, sequences, shape);
  return sequences;
}

}  // namespace wane::cuda::impl
