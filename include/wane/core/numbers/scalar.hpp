// The index type, and real and complex arithmetic that is the same on host and device.
// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "wane/core/config.hpp"

namespace wane {

// Extents, strides and positions: 64 bits, signed.
using index = std::int64_t;

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

template <class T>
struct real_part_of {
  using type = T;
};
template <class T>
struct real_part_of<std::complex<T>> {
  using type = T;
};
// T for a real T, and the type of the real and imaginary parts for a complex T.
template <class T>
using real_type = typename real_part_of<T>::type;

// The real part of z; z itself for a real T.
template <class T>
WANE_HOST_DEVICE real_type<T> real_part(T const& z) {
  if constexpr (is_complex<T>)
    return z.real();
  else
    return z;
}

// x converted to another type. Complex to real takes the real part.
template <class To, class From>
WANE_INLINE To convert(From const& x) {
  if constexpr (is_complex<From> && !is_complex<To>)
    return static_cast<To>(real_part(x));
  else if constexpr (is_complex<From> && !std::is_same_v<From, To>)
    return {static_cast<real_type<To>>(x.real()), static_cast<real_type<To>>(x.imag())};
  else
    return static_cast<To>(x);
}

// The type that computes with stored values: float for 16-bit storage types, otherwise T.
template <class T>
struct widened_type {
  using type = T;
};
template <class T>
using widened = typename widened_type<T>::type;

// Code of kernels computes with complex numbers by these functions. The operators of libstdc++'s
// std::complex, its assignment of real numbers and its conversions use __complex__ numbers, which
// nvcc 13 drops from device code without a message. Comparison and the unary minus are safe.

// a + b
template <class V>
WANE_INLINE V add(V const& a, std::type_identity_t<V> const& b) {
  return a + b;
}

// a - b
template <class V>
WANE_INLINE V subtract(V const& a, std::type_identity_t<V> const& b) {
  return a - b;
}

// a b
template <class V>
WANE_INLINE V multiply(V const& a, std::type_identity_t<V> const& b) {
  return a * b;
}

// a b + c. The compiler contracts it to one rounding where the machine has a fused multiply-add.
template <class V>
WANE_INLINE V multiply_add(V const& a, std::type_identity_t<V> const& b,
                           std::type_identity_t<V> const& c) {
  return a * b + c;
}

// The complex conjugate; z itself for a real number.
template <class T>
WANE_INLINE T conjugate(T const& z) {
  return z;
}

// Complex arithmetic on the two parts, because the product of std::complex tests for NaN. On a
// device std::complex needs nvcc --expt-relaxed-constexpr.
template <class T>
WANE_INLINE std::complex<T> conjugate(std::complex<T> const& z) {
  auto const& [re, im] = reinterpret_cast<T const(&)[2]>(z);
  return {re, -im};
}

template <class T>
WANE_INLINE std::complex<T> add(std::complex<T> const& a,
                                std::type_identity_t<std::complex<T>> const& b) {
  return {a.real() + b.real(), a.imag() + b.imag()};
}

template <class T>
WANE_INLINE std::complex<T> subtract(std::complex<T> const& a,
                                     std::type_identity_t<std::complex<T>> const& b) {
  return {a.real() - b.real(), a.imag() - b.imag()};
}

template <class T>
WANE_INLINE std::complex<T> multiply(std::complex<T> const& a,
                                     std::type_identity_t<std::complex<T>> const& b) {
  auto const& x = reinterpret_cast<T const(&)[2]>(a);
  auto const& y = reinterpret_cast<T const(&)[2]>(b);
  return {x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]};
}

template <class T>
WANE_INLINE std::complex<T> multiply_add(std::complex<T> const& a,
                                         std::type_identity_t<std::complex<T>> const& b,
                                         std::type_identity_t<std::complex<T>> const& c) {
  auto const& x = reinterpret_cast<T const(&)[2]>(a);
  auto const& y = reinterpret_cast<T const(&)[2]>(b);
  auto const& z = reinterpret_cast<T const(&)[2]>(c);
  return {x[0] * y[0] - x[1] * y[1] + z[0], x[0] * y[1] + x[1] * y[0] + z[1]};
}

}  // namespace wane
