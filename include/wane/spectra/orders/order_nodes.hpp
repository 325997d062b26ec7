// order_nodes: concept of the nodes of retention and retrieval, shared by all orders or in banks.
// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "wane/core/recurrence/recurrence.hpp"

namespace wane::spectra {

// Nodes with constant decays, and weights that an order chooses:
//   w_l(alpha) ~ sum_s at(alpha).weight(s) e^{log_decay_s l},
// and at lag 0 at(alpha).weight(nodes()) is added. slope(s) is d weight(s) / d alpha. Each token
// calls at() once. For vectorised runs weight and slope also take lanes, as view::read does.
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

// The number type in which nodes hold their weights.
template <class Nodes>
using number_of = typename decltype(Nodes::log_decay)::value_type;

// The order that a table looks up. Orders up to 1/128 outside [least, 1] come from rounding and
// count as the nearer end; orders farther out, and NaN, give NaN.
template <class T>
WANE_HOST_DEVICE T order_within(T least, T alpha) {
  T const margin = T(0.0078125);
  if (!(alpha >= least - margin && alpha <= T(1) + margin)) return T(__builtin_nanf(""));
  return alpha < least ? least : alpha > T(1) ? T(1) : alpha;
}

}  // namespace wane::spectra::impl
