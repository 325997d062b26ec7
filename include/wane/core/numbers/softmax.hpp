// What softmax is made of: e^x, and logarithms of weights that a weight of 0 may be multiplied by.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include "wane/core/numbers/decay.hpp"

namespace wane::impl {

// nvcc compiles its callers, which are for the host, for the device too, where there are no
// vectors.
template <class V>
WANE_HOST_INLINE V exponential(V x) {
#ifdef __CUDA_ARCH__
  return x;
#else
  return factor_of(decay_from_log(x));
#endif
}

// The level that scores are taken relative to, their greatest; 0 where all are -inf.
template <class V>
WANE_HOST_INLINE V softmax_level(V greatest) {
  using T = typename scalar_of_value<V>::type;
  return where_below(greatest, V(std::numeric_limits<T>::lowest()), V(T(0)), greatest);
}

// score - level; where that weighs nothing, a finite number.
template <class V>
WANE_HOST_INLINE V log_weight(V score, V level) {
  using T = typename scalar_of_value<V>::type;
  return at_least(V(T(std::numeric_limits<T>::min_exponent)), score - level);
}

}  // namespace wane::impl
