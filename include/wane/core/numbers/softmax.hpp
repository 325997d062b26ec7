// Parts of softmax: e^x, the level of scores, and logarithms of weights that are always finite.
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include "wane/core/numbers/decay.hpp"

namespace wane::impl {

// e^x. nvcc compiles the host functions that call it for the device, too, where vectors do not
// exist; that code never runs.
template <class V>
WANE_HOST_INLINE V exponential(V x) {
#ifdef __CUDA_ARCH__
  return x;
#else
  return factor_of(decay_from_log(x));
#endif
}

// The number to subtract from scores before e^x: the greatest score, or 0 where all are -inf.
template <class V>
WANE_HOST_INLINE V softmax_level(V greatest) {
  using T = typename scalar_of_value<V>::type;
  return where_below(greatest, V(std::numeric_limits<T>::lowest()), V(T(0)), greatest);
}

// score - level, but finite where it is -inf. The weight e^x is 0 there, and 0 times -inf, in the
// gradient of an entropy, would be NaN.
template <class V>
WANE_HOST_INLINE V log_weight(V score, V level) {
  using T = typename scalar_of_value<V>::type;
  return at_least(V(T(std::numeric_limits<T>::min_exponent)), score - level);
}

}  // namespace wane::impl
