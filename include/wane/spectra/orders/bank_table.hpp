// bank_table: memories of a few fixed orders side by side, and which of them a token writes (VORT).
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/spectra/orders/order_nodes.hpp"

namespace wane::spectra {

enum class routing {
  nearest,  // VORT, eq. 12: the bank argmin_k |alpha - alpha_k|, of two as near the lower; slope 0
  linear    // both neighbours, by how near they are: the slope is that from one to the other
};

// Views of what spectra::order_banks holds: K banks, and N nodes of all of them together.
template <class T>
struct bank_table {
  T least = T(0);  // orders are in [least, 1]; below the first bank they write that one alone
  routing routed = routing::nearest;
  view<T const, 1> orders = {};           // alpha_k, [K], the smallest first
  sequence_view<T const> log_decay = {};  // -r_s, [1, 1, 1, N]
  // [K, 1, 1, N + 1]: c_s of the bank's own nodes, 0 for all others; and last its direct term
  sequence_view<T const> weights = {};

  WANE_HOST_DEVICE index nodes() const { return log_decay.extent[3]; }
  bool present() const { return nodes() > 0 && weights.data; }

  // Between two banks, x from 0 to 1; alpha goes 1 / scale from one to the other.
  struct order {
    bank_table const& table;
    index below, above;
    T x, scale;

    // What a token writes to node s; its direct term at s = nodes().
    WANE_INLINE auto weight(auto s) const {
      auto const a = part(below, s);
      return multiply_add(decltype(a)(x), part(above, s) - a, a);
    }
    // Its derivative by alpha; at a bank that from below.
    WANE_INLINE auto slope(auto s) const {
      auto const rise = part(above, s) - part(below, s);
      return rise * decltype(rise)(scale);
    }

   private:
    WANE_INLINE auto part(index bank, auto s) const {
      return table.weights.read(place<>{bank, 0, 0}, s);
    }
  };

  // Orders outside [least, 1] have weights that are NaN; see order_within.
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
  order at(T alpha) && = delete;  // it looks things up in the table

  // The table on other memory; see wane/core/recurrence/recurrence.hpp.
  template <class Moved>
  WANE_HOST_DEVICE bank_table with_tensors(Moved const& moved) const {
    return {least, routed, moved.whole(orders), moved.whole(log_decay), moved.whole(weights)};
  }
};

}  // namespace wane::spectra
