// has_effects: whether ranks may hand on what the tokens of an operator do to any state.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/recurrence/penalised_memory.hpp"
#include "wane/core/recurrence/poles.hpp"
#include "wane/core/recurrence/without_writes.hpp"

namespace wane::impl {

// Whether silent_token can be made of a token.
template <class Token>
inline constexpr bool can_be_silent =
    std::is_class_v<Token> && !std::is_final_v<Token> && std::is_copy_constructible_v<Token>;
template <class Token>
requires requires(Token const& x) { x.at_column(index{}); }
inline constexpr bool can_be_silent<Token> =
    can_be_silent<std::remove_cvref_t<decltype(std::declval<Token const&>().at_column(index{}))>>;

// Whether tokens have an effect that does not depend on the state, and types of which others can be
// derived. A state of 16 bits is too narrow for products of decays.
template <class Op, class State>
inline constexpr bool has_effects = false;
template <affine_recurrence Op, class State>
requires(!paired_recurrence<Op> && !penalised_memory<Op> && !leaving_inputs<Op> &&
         !std::is_final_v<Op> && !std::is_polymorphic_v<Op> &&
         std::is_copy_constructible_v<Op>) inline constexpr bool has_effects<Op, State> =
    !(has_erase<token_of<Op>> &&
      decays_by_element<token_of<Op>>)&&can_be_silent<std::remove_cvref_t<token_of<Op>>> &&
    std::is_floating_point_v<real_type<State>>;

}  // namespace wane::impl
