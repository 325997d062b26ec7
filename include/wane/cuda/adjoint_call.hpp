// Which kernels take the adjoint of a recurrence, and what memory they ask for.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/penalised_gradients.hpp"
#include "wane/cuda/penalty/adjoint_call.hpp"
#include "wane/cuda/run_call.hpp"
#include "wane/cuda/scan/adjoint_call.hpp"

namespace wane::cuda {

// What gradients of an affine recurrence may be taken.
template <class Op, class Gradients>
consteval void check_sink() {
  using V = accumulate_type<Op>;
  using Sink = sink_of<Gradients, Op>;
  static_assert(takes_what_it_names<Sink, V>,
                "wane::cuda::adjoint: element, column, row and whole of a sink take gradients of "
                "the type the recurrence computes in; one here takes another");
  static_assert(!takes_all_of_columns<Sink, index, V>,
                "wane::cuda::adjoint: all_of_column(j, ...) of a sink, the gradients of decays by "
                "element and of a skip, is not there yet; wane::adjoint has it");
  static_assert(gives_sums<Op> || !takes_sums<Gradients, Op>,
                "wane::cuda::adjoint: row, whole and all of a sink take sums over columns; they "
                "are not there for channelwise recurrences, decays by element and skips");
  static_assert(!time_invariant<Op> || !takes_all<Sink, V>,
                "wane::cuda::adjoint: all(...) of a sink is not there for a time-invariant "
                "recurrence; row and whole are, once a head");
  static_assert(
      channelwise<Op> || !takes_elements<Sink, index, V>,
      "wane::cuda::adjoint: element(j, ...) of a sink is for channelwise recurrences; the "
      "gradients of this one go to column, row and whole");
}

// Sentences for what the adjoint cannot do.
template <class Op, class Out, class Gradients>
consteval void check_adjoint() {
  check_run<Op, std::remove_const_t<Out>>();
  static_assert(std::is_trivially_copyable_v<Gradients>,
                "wane::cuda::adjoint: gradients are copied to the device; theirs must be trivially "
                "copyable, and `at` and the members of the sink WANE_HOST_DEVICE");
  if constexpr (penalised_memory<Op>)
    static_assert(penalised_gradients<Gradients, Op>,
                  "wane::cuda::adjoint: the gradients of a penalised memory are Op::gradients, or "
                  "what wane/core/recurrence/penalised_gradients.hpp says");
  else
    check_sink<Op, Gradients>();
}

// The bytes of workspace that adjoint(stream, op, output_gradient, ...) asks for, whichever
// gradients are taken, where that of outputs is of the type Out: bfloat16 asks for less, a memory
// that is not penalised for about half.
template <class Out, class Op, class State = accumulate_type<Op>>
std::size_t adjoint_workspace_bytes_for(Op const& op, adjoint_options<State> const& options = {}) {
  check_operator<Op>();
  check_rows_of_memory(op);
  if constexpr (chunkable<Op>)
    if (runs_in_chunks(op))
      return chunk_adjoint_workspace_bytes<any_chunk_config, Out>(op, options);
  if constexpr (penalised_in_chunks<Op>)
    return penalised_adjoint_workspace::of<any_penalty_config, any_chunk_config,
                                           std::remove_const_t<Out>>(op, options)
        .bytes;
  else if constexpr (scannable<Op>)
    return scan_adjoint_workspace_bytes<default_adjoint_config<accumulate_type<Op>>>(op, options);
  else
    return 0;
}
// Enough for any type.
template <class Op, class State = accumulate_type<Op>>
std::size_t adjoint_workspace_bytes(Op const& op, adjoint_options<State> const& options = {}) {
  return adjoint_workspace_bytes_for<accumulate_type<Op>>(op, options);
}

}  // namespace wane::cuda
