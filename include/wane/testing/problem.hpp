// What the law kit needs: a problem makes an operator over any piece of its data.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <span>
#include <vector>

#include "wane/core/recurrence/diagonal_recurrence.hpp"
#include "wane/core/recurrence/recurrence.hpp"
#include "wane/testing/compare.hpp"

namespace wane::testing {

// A problem owns data for B sequences of time() tokens. make(begin, end) gives the operator over
// the tokens begin <= t < end (slice every tensor with view::tokens).
// An optional begin(state, bits) makes the states that runs begin with; the default is normal
// numbers.
template <class P>
concept problem = requires(P const& p, index t) {
  { p.time() } -> std::convertible_to<index>;
  { p.make(t, t) } -> diagonal_recurrence;
};

template <problem P>
using operator_of = decltype(std::declval<P const&>().make(index{}, index{}));

// The laws of the adjoint also need inputs(), spans of one scalar type; input_gradients(), a span
// of the same size for each; and gradients(), the sink through which wane::adjoint fills these,
// over all tokens. The operator has terms, is a pair, or has a type `gradients`. A buffer between
// the sink and the spans must start as zeros, because gradients of padding are never written.
template <class P>
concept differentiable_problem = problem<P> &&(affine_recurrence<operator_of<P>> ||
                                               paired_recurrence<operator_of<P>> ||
                                               requires { typename operator_of<P>::gradients; }) &&
                                 requires(P& p) {
  p.inputs()[0][0];
  p.input_gradients()[0][0];
  p.gradients();
};

}  // namespace wane::testing

namespace wane::testing::impl {

// The type of the inputs of a differentiable problem.
template <class P>
using input_of = std::remove_cvref_t<decltype(std::declval<P&>().inputs()[0][0])>;

// Makes the states that runs of a problem begin with.
template <problem P, class T>
void begin_states(P const& p, recurrent_state<T>& states, std::mt19937_64& bits) {
  if constexpr (requires { p.begin(states, bits); })
    p.begin(states, bits);
  else
    states.values() = random_numbers<T>(states.values().size(), bits);
}

}  // namespace wane::testing::impl
