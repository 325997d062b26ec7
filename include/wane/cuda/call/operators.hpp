// Which operators run on a GPU, and messages at compile time for all others.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/diagonal_recurrence.hpp"
#include "wane/core/recurrence/penalised_memory.hpp"

namespace wane::cuda::impl {

// A token whose products with other tokens are the same for all columns.
template <class Token>
concept keyed_token =
    has_key<Token> && has_query<Token> && !(decays_by_element<Token> || has_skip<Token>);
template <class Op>
inline constexpr bool computes_in_float =
    std::is_same_v<accumulate_type<Op>, float>&& std::is_same_v<output_type<Op>, float>;
// Memories with keys that compute in float run in chunks, except those with constant decays, which
// a scan finds once. Memories that do not erase can be scanned too.
template <class Op>
concept chunkable = affine_recurrence<Op> && computes_in_float<Op> && keyed_token<token_of<Op>> &&
    !(normalised_recurrence<Op> || time_invariant<Op> || constant_decays<Op>);

// Penalised memories whose S runs in chunks. A kernel of their own finds the write directions.
template <class Op>
concept penalised_in_chunks =
    penalised_memory<Op> && chunkable<decltype(std::declval<Op const&>().memory({}, index{}))>;

// Messages at compile time for what no kernel can do.
template <class Op>
consteval void check_operator() {
  static_assert(
      diagonal_recurrence<Op>,
      "wane::cuda::run: this type is no recurrence; it needs shape() and at(place), which "
      "gives a token with value(j); see wane/core/recurrence/diagonal_recurrence.hpp");
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

}  // namespace wane::cuda::impl
