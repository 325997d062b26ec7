// Stored numbers as double or complex<double>, and numbers of higher precision rounded to those.
// SPDX-License-Identifier: MIT
#pragma once

#include <complex>

#include "wane/core/numbers/scalar.hpp"

namespace support {

template <class T>
auto wide(T const& x) {
  if constexpr (wane::is_complex<T>)
    return std::complex<double>(static_cast<double>(x.real()), static_cast<double>(x.imag()));
  else
    return static_cast<double>(x);
}

}  // namespace support
