// taper: exponents by which the decay of a gate weakens with the position of the token.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/operators/gates/gate_parameter.hpp"

namespace wane::impl {

// The type of logarithms and of sums over tokens: double for float, otherwise T itself.
template <class T>
using precise = std::conditional_t<std::is_same_v<T, float>, double, T>;

}  // namespace wane::impl

namespace wane {

//   std::vector<double> const alpha = wane::spectra::linear_taper(H);
//   wane::taper<double> const taper{wane::view<double const, 1>(alpha.data(), H), 2048};
//
// A log decay log w becomes (t/T)^{-alpha} log w at position t, which counts from 1 over all tokens
// that the carried state has seen (PoST, Prop. 4.17). T = trained_at = 1 is the paper's reference
// scaling; T = the length trained at is its covering scaling (docs/post.md). alpha is [H], or
// [H, K] for gates of rows, in [0, 1]; absent: 0.
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

  // log(t/T), computed once for each token; positions are exact up to 2^53.
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
