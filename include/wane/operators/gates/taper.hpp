// taper: how much a gate's decay stretches with the position of its token.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/gates/gate_parameter.hpp"

namespace wane::impl {

// What logarithms and sums over tokens are held in: double for float, otherwise the type itself.
template <class T>
using precise = std::conditional_t<std::is_same_v<T, float>, double, T>;

}  // namespace wane::impl

namespace wane {

// A decay of log w becomes one of (t/T)^{-alpha} log w at position t, counted from 1 over all that
// the carried state has seen (PoST, Prop. 4.17). With T = trained_at = 1 this is the paper's
// reference scaling, with T the length trained at its covering one (docs/post.md). alpha is
// [H], or [H, K] for gates of rows, in [0, 1]; absent: 0. wane/spectra/rates/taper.hpp computes it.
template <class T>
struct taper {
  gate_parameter<T const> exponents = {};
  double trained_at = 1;

  void check(index heads, index rows) const {
    exponents.check("the taper", heads, rows);
    require(std::isfinite(trained_at) && trained_at > 0, "trained_at is ", trained_at,
            "; it must be a positive number of steps");
  }
  void check_parameters() const { exponents.check_range("the taper", 0, 1); }

  // log(t/T), which is found once a token; a 64-bit position is exact up to 2^53.
  WANE_INLINE impl::split_sum<T> log_position(index position) const {
    using std::log;
    if (!exponents.present()) return {T(0), T(0)};
    auto const x =
        log(static_cast<impl::precise<T>>(position) / static_cast<impl::precise<T>>(trained_at));
    T const high = static_cast<T>(x);
    return {high, static_cast<T>(x - static_cast<impl::precise<T>>(high))};
  }
};

}  // namespace wane
