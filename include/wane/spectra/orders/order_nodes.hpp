// order_nodes: what memories of fractional orders ask of their nodes, shared or in banks.
// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "wane/core/recurrence/recurrence.hpp"

namespace wane::spectra {

// Nodes with constant decays, and weights that an order chooses:
//   w_l(alpha) ~ sum_s at(alpha).weight(s) e^{log_decay_s l},
// and at lag 0 at(alpha).weight(nodes()) is added. slope(s) is d weight(s) / d alpha. at() is asked
// once a token. Where lanes are to be read, weight and slope take them too, as view::read does.
template <class Nodes, class T>
concept order_nodes = std::is_trivially_copyable_v<Nodes> &&
    requires(Nodes const& nodes, T alpha, index s) {
  { nodes.present() } -> std::same_as<bool>;                           // are there any?
  { nodes.nodes() } -> std::same_as<index>;                            // how many
  { nodes.log_decay } -> std::convertible_to<sequence_view<T const>>;  // [1, 1, 1, nodes()]
  { nodes.at(alpha).weight(s) } -> std::same_as<T>;                    // s <= nodes()
  { nodes.at(alpha).slope(s) } -> std::same_as<T>;                     // s <= nodes()
  { nodes.with_tensors(same_tensors{}) } -> std::same_as<Nodes>;       // on other memory
};

}  // namespace wane::spectra

namespace wane::spectra::impl {

// What nodes compute in, and hold their weights in.
template <class Nodes>
using number_of = typename decltype(Nodes::log_decay)::value_type;

// The order that tables look up: those that rounding has put beside [least, 1], by 1/128 at most,
// are taken as its ends; those farther away, and NaN, are NaN.
template <class T>
WANE_HOST_DEVICE T order_within(T least, T alpha) {
  T const margin = T(0.0078125);
  if (!(alpha >= least - margin && alpha <= T(1) + margin)) return T(__builtin_nanf(""));
  return alpha < least ? least : alpha > T(1) ? T(1) : alpha;
}

}  // namespace wane::spectra::impl
