// wider<T>: the type that holds sums over many tokens, double for float.
// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <type_traits>

#include "wane/core/numbers/scalar.hpp"
#include "wane/core/numbers/simd_lanes.hpp"

namespace wane::impl {

// float becomes double, complex float becomes complex double; other types stay.
template <class T>
struct wider_type {
  using type = T;
};
template <>
struct wider_type<float> {
  using type = double;
};
template <>
struct wider_type<std::complex<float>> {
  using type = std::complex<double>;
};
template <class T>
using wider = typename wider_type<T>::type;

template <class T>
T sum(T const& x) {
  return x;
}
// x as type A: the vector itself where A is the vector's type, otherwise the sum of its lanes.
template <class A, class V>
WANE_HOST_INLINE A gathered(V const& x) {
  if constexpr (std::is_same_v<A, V>)
    return x;
  else
    return A(sum(x));
}

}  // namespace wane::impl
