// bank_table: a view of order_banks, which tells retention what a token writes to each bank (VORT).
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/spectra/orders/order_nodes.hpp"

namespace wane::spectra {

enum class routing {
  nearest,  // VORT, eq. 12: the bank argmin_k |alpha - alpha_k|, on a tie the lower; slope 0
  linear    // both neighbours, interpolated linearly in the order
};

//   wane::retention_inputs<float> const in{.value = v, .alpha = alpha};
//   wane::retention const memory(in, banks.table(wane::spectra::routing::linear));
//
// Views of the numbers that order_banks holds: K banks, with N nodes in all of them together.
template <class T>
struct bank_table {
  T least = T(0);  // orders are in [least, 1]; an order below the first bank writes the first bank
  routing routed = routing::nearest;
  view<T const, 1> orders = {};           // alpha_k, [K], the smallest first
  sequence_view<T const> log_decay = {};  // -r_s, [1, 1, 1, N]
  // [K, 1, 1, N + 1]: c_s for the nodes of the bank, 0 for all others; last the bank's direct term
  sequence_view<T const> weights = {};

  WANE_HOST_DEVICE index nodes() const { return log_decay.extent[3]; }
  bool present() const { return nodes() > 0 && weights.data; }

  // An order between two banks: x is 0 at the lower and 1 at the upper, and dx/dalpha = scale.
  struct order {
    bank_table const& table;
    index below, above;
    T x, scale;

    // The factor by which a token is written to node s; at s = nodes() its direct term.
    WANE_INLINE auto weight(auto s) const {
      auto const a = part(below, s);
      return multiply_add(decltype(a)(x), part(above, s) - a, a);
    }
    // The derivative of weight by alpha; at the order of a bank, from below.
    WANE_INLINE auto slope(auto s) const {
      auto const rise = part(above, s) - part(below, s);
      return rise * decltype(rise)(scale);
    }

   private:
    WANE_INLINE auto part(index bank, auto s) const {
      return table.weights.read(place<>{bank, 0, 0}, s);
    }
  };

  // Orders more than 1/128 outside [least, 1], and NaN, get weights that are NaN.
  WANE_HOST_DEVICE order at(T alpha) const& {
    T const inside = impl::order_within(least, alpha);
    if (!(inside >= least)) return {*this, 0, 0, inside, inside};
    index const banks = orders.extent[0];
    index above = 0;
    while (above < banks && orders(above) < inside) ++above;
    if (above == 0) return {*this, 0, 0, T(0), T(0)};
    index const below = above - 1;
    if (above == banks) return {*this, below, below, T(0), T(0)};
    T const from_below = inside - orders(below), to_above = orders(above) - inside;
    if (routed == routing::nearest) {
      index const bank = from_below <= to_above ? below : above;
      return {*this, bank, bank, T(0), T(0)};
    }
    T const wide = orders(above) - orders(below);
    return {*this, below, above, from_below / wide, T(1) / wide};
  }
  order at(T alpha) && = delete;  // the order refers to the table

  // The table on other memory; see wane/core/recurrence/recurrence.hpp.
  template <class Moved>
  WANE_HOST_DEVICE bank_table with_tensors(Moved const& moved) const {
    return {least, routed, moved.whole(orders), moved.whole(log_decay), moved.whole(weights)};
  }
};

}  // namespace wane::spectra
