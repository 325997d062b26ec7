// time_step: Mamba's Delta from the raw dt of a layer, through softplus and limits.
// SPDX-License-Identifier: MIT
#pragma once

#include "wane/core/error.hpp"
#include "wane/operators/gates/softplus.hpp"

namespace wane::impl {

// Delta = min(max(softplus(raw), least), most), or without softplus; for numbers and lanes. In
// float and double softplus is within two roundings of its value at any argument.
template <class T>
class time_step {
 public:
  // Throws wane::error unless 0 <= limit[0] <= limit[1].
  time_step(bool softplus, double const (&limit)[2])
      : least_(static_cast<T>(limit[0])), most_(static_cast<T>(limit[1])), softplus_(softplus) {
    require(limit[0] >= 0 && limit[0] <= limit[1], "dt_limit is {", limit[0], ", ", limit[1],
            "}; it must be two numbers of 0 or more, the least and the most");
  }

  template <class V>
  WANE_INLINE V operator()(V raw) const {
    return at_most(V(most_), at_least(V(least_), softplus_ ? softplus(raw) : raw));
  }

  // dDelta/draw; 0 beyond the limits.
  template <class V>
  WANE_INLINE V slope(V raw) const {
    V const zero = V(T(0)), free = softplus_ ? softplus(raw) : raw;
    V const inside = softplus_ ? logistic(raw) : V(T(1));
    return where_below(free, V(least_), zero, where_below(V(most_), free, zero, inside));
  }

 private:
  // log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)
  template <class V>
  WANE_INLINE static V softplus(V x) {
    return at_least(V(T(0)), x) + log1p_of_unit(factor_of(decay_from_log(-size(x))));
  }
  // 1 / (1 + e^-x), computed from e^-|x|, which cannot overflow.
  template <class V>
  WANE_INLINE static V logistic(V x) {
    V const u = factor_of(decay_from_log(-size(x)));
    return where_below(x, V(T(0)), u, V(T(1))) / (V(T(1)) + u);
  }
  template <class V>
  WANE_INLINE static V size(V x) {
    return at_least(-x, x);
  }

  T least_, most_;
  bool softplus_;
};

}  // namespace wane::impl
