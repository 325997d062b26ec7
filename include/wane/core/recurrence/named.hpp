// named: a tensor of an aggregate of inputs or gradients, which tells its name where it is refused.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "wane/core/recurrence/view.hpp"

namespace wane::impl {

// A string as a template argument.
template <int N>
struct name {
  char text[N];

  constexpr name(char const (&from)[N]) { std::copy_n(from, N, text); }
};

// Whether `Given` is taken for the tensor `Name`, a View.
template <name Name, class Given, class View>
inline constexpr bool is_given_as = std::is_convertible_v<Given const&, View>;

struct nothing_more {};

// The tensor `Name` of an aggregate: the view, made of what converts to it, and More. What does not
// convert is a hard error here, because a compiler names no member where it finds no conversion.
template <name Name, class View, class More = nothing_more>
struct named : View, More {
  static constexpr auto const& text = Name.text;

  named() noexcept = default;
  WANE_HOST_DEVICE named(View const& of) : View(of) {}
  WANE_HOST_DEVICE named(decltype(View::data) values, decltype(View::extent) const& extents,
                         decltype(View::stride) const& strides)
      : View(values, extents, strides) {}

  template <class Given>
  named(Given const& of) {
    static_assert(is_given_as<Name, Given, View>,
                  "wane: the tensor that is named here has another type of numbers or another rank "
                  "than the operator takes, is constant where a gradient goes, or is a matrix "
                  "(wane/eigen.hpp views those)");
    if constexpr (is_given_as<Name, Given, View>) View::operator=(of);
  }
  template <class Given, class... Extents>
  requires(sizeof...(Extents) > 0 && (std::is_convertible_v<Extents, index> && ...))
      named(Given* values, Extents... extents) {
    static_assert(is_given_as<Name, view<Given, sizeof...(Extents)>, View>,
                  "wane: the tensor that is named here has another type of numbers or another rank "
                  "than the operator takes, is constant where a gradient goes, or is a matrix "
                  "(wane/eigen.hpp views those)");
    if constexpr (is_given_as<Name, view<Given, sizeof...(Extents)>, View>)
      View::operator=(View(values, extents...));
  }
};

// The first member of aggregates whose members must be named, because all are views of one type.
struct by_name {
  by_name() noexcept = default;
  template <class Given>
  by_name(Given const&) {
    static_assert(!std::is_same_v<Given, Given>,
                  "wane: inputs and gradients are given by name: {.query = q, .key = k, ...}");
  }
};

}  // namespace wane::impl
