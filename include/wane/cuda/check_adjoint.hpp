// Sentences at compile time for gradients that the adjoint on a GPU cannot give.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/penalised_gradients.hpp"
#include "wane/cuda/call/call.hpp"
#include "wane/cuda/scan/adjoint_sums.hpp"

namespace wane::cuda::impl {

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

}  // namespace wane::cuda::impl
