// window: the weight of a lag, with a real width that may be learnt.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <numbers>

#include "wane/spectra/checks.hpp"

namespace wane::spectra {

enum class window_shape {
  none,         // 1
  rectangular,  // 1 on |l| < W
  hann,         // (1 + cos(pi l/W))/2 on |l| < W
  exponential,  // e^{-|l|/W}
  gaussian      // e^{-l^2/(2W^2)}
};

// Whether the weight is 0 from lag W on; the other windows never end.
constexpr bool is_cut(window_shape shape) {
  return shape == window_shape::rectangular || shape == window_shape::hann;
}

//   wane::spectra::window const w(wane::spectra::window_shape::hann, 64);
//   double const weight = w(10), slope = w.derivative(10);  // at lag 10
//
// The weight w(l; W) of lag l, W the half width in tokens (STLT, section 3.2), and its derivative
// by W. Throws wane::error unless the width is positive and finite.
class window {
 public:
  explicit window(window_shape shape, double width = 1) : shape_(shape), width_(width) {
    impl::require_positive(width, "width");
  }

  window_shape shape() const { return shape_; }
  double width() const { return width_; }
  // The weight is 0 from this lag on; infinite for windows that never end.
  double reach() const { return is_cut(shape_) ? width_ : HUGE_VAL; }

  double operator()(double lag) const {
    double const x = std::abs(lag) / width_;
    if (!(std::abs(lag) < reach())) return 0;
    if (shape_ == window_shape::hann) {
      double const c = std::cos(std::numbers::pi / 2 * x);  // no cancellation near the edge
      return c * c;
    }
    if (shape_ == window_shape::exponential) return std::exp(-x);
    if (shape_ == window_shape::gaussian) return std::exp(-x * x / 2);
    return 1;
  }

  // dw/dW. 0 for the rectangular window, which jumps.
  double derivative(double lag) const {
    double const x = std::abs(lag) / width_;
    if (!(std::abs(lag) < reach())) return 0;
    if (shape_ == window_shape::hann)
      return std::numbers::pi / 2 * x * std::sin(std::numbers::pi * x) / width_;
    if (shape_ == window_shape::exponential) return x * std::exp(-x) / width_;
    if (shape_ == window_shape::gaussian) return x * x * std::exp(-x * x / 2) / width_;
    return 0;
  }

 private:
  window_shape shape_;
  double width_;
};

}  // namespace wane::spectra
