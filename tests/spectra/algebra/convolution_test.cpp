// The convolution by Fourier transforms against the sum that it is.
// SPDX-License-Identifier: MIT
#include "wane/spectra/algebra/convolution.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "wane/spectra/orders/gruenwald_letnikov.hpp"

namespace {

using namespace wane::spectra;

std::vector<double> gl_weights(double alpha, std::size_t count) {
  std::vector<double> weights;
  for (std::size_t l = 0; l < count; ++l)
    weights.push_back(gruenwald_letnikov(alpha)(static_cast<std::int64_t>(l)));
  return weights;
}

TEST(CausalConvolution, IsItsSum) {
  std::mt19937 bits(1);
  std::normal_distribution<double> normal;
  for (std::size_t length : {1u, 2u, 3u, 100u, 777u})
    for (std::size_t of_kernel : {1u, 50u, 777u, 2000u}) {
      std::vector<double> x(length);
      for (double& v : x) v = normal(bits);
      auto const kernel = gl_weights(0.6, of_kernel);
      auto const y = causal_convolution(kernel, x);
      ASSERT_EQ(y.size(), length);
      for (std::size_t t = 0; t < length; ++t) {
        double sum = 0;
        for (std::size_t l = 0; l <= t && l < of_kernel; ++l) sum += kernel[l] * x[t - l];
        EXPECT_NEAR(y[t], sum, 1e-12) << length << ", " << of_kernel;
      }
    }
  EXPECT_TRUE(causal_convolution({1, 2}, {}).empty());
}

TEST(CausalConvolution, OfFractionalSumsAddsTheirOrders) {
  // (1-z)^-a (1-z)^-b = (1-z)^-(a+b): half an order twice is the plain sum.
  auto const twice = causal_convolution(gl_weights(0.5, 100000), gl_weights(0.5, 100000));
  for (std::size_t t = 0; t < twice.size(); t += 999) EXPECT_NEAR(twice[t], 1, 1e-13);
}

}  // namespace
