// Windows: values, edges, derivative in the width.
// SPDX-License-Identifier: MIT
#include "wane/spectra/nodes/window.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "spectra/expect_refusal.hpp"

namespace {

using namespace wane::spectra;
using enum window_shape;

TEST(Window, HasTheValuesOfItsShape) {
  EXPECT_EQ(window(none)(1e9), 1);
  EXPECT_EQ(window(rectangular, 3)(2.999), 1);
  EXPECT_EQ(window(rectangular, 3)(3), 0);
  EXPECT_NEAR(window(hann, 4)(2), 0.5, 1e-15);
  EXPECT_NEAR(window(hann, 10.5)(3), 0.5 * (1 + std::cos(std::numbers::pi * 3 / 10.5)), 1e-15);
  EXPECT_EQ(window(hann, 4)(4), 0);
  EXPECT_EQ(window(hann, 4)(-9), 0);
  EXPECT_NEAR(window(exponential, 5)(5), std::exp(-1), 1e-16);
  EXPECT_NEAR(window(gaussian, 5)(-5), std::exp(-0.5), 1e-16);
  for (auto shape : {none, rectangular, hann, exponential, gaussian}) {
    EXPECT_EQ(window(shape, 2.5)(0), 1);
    EXPECT_EQ(window(shape, 2.5)(1), window(shape, 2.5)(-1));
    EXPECT_EQ(window(shape, 2.5).reach() < 3, shape == rectangular || shape == hann);
  }
}

TEST(Window, HasItsDerivativeInTheWidth) {
  double const h = 1e-6;
  for (auto shape : {none, rectangular, hann, exponential, gaussian})
    for (double width : {3.3, 100.0})
      for (double part : {0.0, 0.1, 0.5, 0.99, 1.5}) {
        double const lag = part * width;
        EXPECT_NEAR(window(shape, width).derivative(lag),
                    (window(shape, width + h)(lag) - window(shape, width - h)(lag)) / (2 * h), 1e-8)
            << static_cast<int>(shape) << ", " << width << ", " << lag;
      }
}

TEST(Window, RefusesAWidthThatIsNone) {
  for (double width : {0.0, -1.0, std::nan("")})
    expect_refusal([&] { window(hann, width); }, {"width is"});
}

}  // namespace
