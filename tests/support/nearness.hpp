// Errors relative to an oracle: of the norm, and of the largest element.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>

namespace support {

class nearness {
 public:
  void add(double is, double should_be) { add(is, should_be, std::abs(should_be)); }
  // `size` is that of the terms of a sum, where these may cancel.
  void add(double is, double should_be, double size) {
    if (!std::isfinite(should_be)) {
      different_ |= std::isfinite(is);
      return;
    }
    double const e = is - should_be;
    different_ |= !std::isfinite(is);
    error_ += e * e, norm_ += size * size;
    largest_error_ = std::max(largest_error_, std::abs(e));
    largest_ = std::max(largest_, size);
  }
  template <class A, class B>
  void add(std::complex<A> is, std::complex<B> should_be) {
    add(static_cast<double>(is.real()), static_cast<double>(should_be.real()));
    add(static_cast<double>(is.imag()), static_cast<double>(should_be.imag()));
  }
  template <class A>
  void add(std::complex<A> is, std::complex<A> should_be, double size) {
    add(is.real(), should_be.real(), size);
    add(is.imag(), should_be.imag(), size);
  }

  // ||y - y*|| / ||y*||; infinite when a number and a NaN or infinity were compared;
  // which of the latter two stands where does not matter.
  double of_norm() const { return ratio(std::sqrt(error_), std::sqrt(norm_)); }
  double of_largest() const { return ratio(largest_error_, largest_); }
  double both() const { return std::max(of_norm(), of_largest()); }

 private:
  double ratio(double e, double size) const {
    if (different_) return HUGE_VAL;
    return e == 0 ? 0 : e / size;
  }
  double error_ = 0, norm_ = 0, largest_error_ = 0, largest_ = 0;
  bool different_ = false;
};

}  // namespace support
