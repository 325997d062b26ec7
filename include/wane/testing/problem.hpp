// What the law kit needs of an operator: how to make it over a piece of its data.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <span>
#include <vector>

#include "wane/core/recurrence/diagonal_recurrence.hpp"
#include "wane/core/recurrence/recurrence.hpp"

namespace wane::testing {

// A problem owns data for B sequences of time() tokens. make(begin, end) gives the operator over
// the tokens begin <= t < end (slice every tensor with view::tokens).
// begin(state, bits), where it is there, makes the states that runs begin with, by default normal
// numbers.
template <class P>
concept problem = requires(P const& p, index t) {
  { p.time() } -> std::convertible_to<index>;
  { p.make(t, t) } -> diagonal_recurrence;
};

template <problem P>
using operator_of = decltype(std::declval<P const&>().make(index{}, index{}));

// For the laws of the adjoint, where the operator has terms or says what its gradients are, a
// problem lists its inputs, spans of one scalar type, and for each a gradient of the same size;
// gradients() makes what wane::adjoint fills them through, over all tokens. What lies between the
// two, sums over tokens are made of it, say, is zero at first: nobody writes the gradients of
// padding.
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
