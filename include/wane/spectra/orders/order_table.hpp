// order_table: a view of order_weights, the weights c_s(alpha) of shared rates as cubics.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/spectra/orders/order_nodes.hpp"

namespace wane::spectra {

//   wane::retention<float> const memory({.value = v, .alpha = alpha}, weights.table());
//
// Views of the numbers that order_weights holds.
template <class T>
struct order_table {
  T least = T(0);                         // orders are in [least, 1]
  sequence_view<T const> log_decay = {};  // -r_s, [1, 1, 1, S]
  // [pieces, 4, 1, S + 1]: coefficients of the cubics of c_s, and last of d = 1 - sum_s c_s
  sequence_view<T const> cubics = {};

  WANE_HOST_DEVICE index nodes() const { return log_decay.extent[3]; }
  bool present() const { return nodes() > 0 && cubics.data; }

  // An order on a piece of the cubics: x goes from 0 to 1 along the piece, and dx/dalpha = scale.
  struct order {
    order_table const& table;
    index piece;
    T x, scale;

    // c_s, or d at s = nodes().
    WANE_INLINE auto weight(auto s) const {
      auto const a = part(0, s);
      decltype(a) const along(x);
      return multiply_add(
          multiply_add(multiply_add(part(3, s), along, part(2, s)), along, part(1, s)), along, a);
    }
    // The derivative of weight by alpha.
    WANE_INLINE auto slope(auto s) const {
      auto const a = part(1, s);
      decltype(a) const along(x), twice(T(2)), thrice(T(3)), scaled(scale);
      return multiply_add(multiply_add(thrice * part(3, s), along, twice * part(2, s)), along, a) *
             scaled;
    }

   private:
    WANE_INLINE auto part(index n, auto s) const {
      return table.cubics.read(place<>{piece, n, 0}, s);
    }
  };

  // Orders more than 1/128 outside [least, 1], and NaN, get weights that are NaN.
  WANE_HOST_DEVICE order at(T alpha) const& {
    index const pieces = cubics.extent[0];
    T const scale = static_cast<T>(pieces) / (T(1) - least);
    T const along = (impl::order_within(least, alpha) - least) * scale;
    if (!(along >= T(0))) return {*this, 0, along, scale};
    index const piece = static_cast<index>(along);
    if (piece >= pieces) return {*this, pieces - 1, T(1), scale};
    return {*this, piece, along - static_cast<T>(piece), scale};
  }
  order at(T alpha) && = delete;  // the order refers to the table

  // The table on other memory; see wane/core/recurrence/recurrence.hpp.
  template <class Moved>
  WANE_HOST_DEVICE order_table with_tensors(Moved const& moved) const {
    return {least, moved.whole(log_decay), moved.whole(cubics)};
  }
};

}  // namespace wane::spectra
