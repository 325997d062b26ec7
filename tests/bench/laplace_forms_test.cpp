// The two forms of STLT's transform that wane-claims compares, against their definitions.
// SPDX-License-Identifier: MIT
#include "claims/laplace_forms.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

namespace wane::bench {
namespace {

constexpr laplace_node node{0.1, 0.7};
constexpr double width = 9.5;

TEST(LaplaceForms, AreTheirDefinitions) {
  using spectra::window_shape;
  auto const x = random_signal(40);
  spectra::window const hann(window_shape::hann, width);
  auto const absolute = absolute_form<double>(x, node, hann);
  auto const relative = relative_form<double, window_shape::hann>(x, node, width);
  std::complex<double> const s(node.sigma, node.omega);
  for (index n = 1; n <= index(x.size()); ++n) {
    std::complex<double> from_start = 0, from_now = 0;
    for (index m = 1; m <= n; ++m) {
      double const weighed = x[std::size_t(m - 1)] * hann(double(n - m));
      from_start += weighed * std::exp(-s * double(m));
      from_now += weighed * std::exp(-s * double(n - m));
    }
    EXPECT_LT(std::abs(absolute[std::size_t(n - 1)] - from_start), 1e-14) << n;
    EXPECT_LT(std::abs(relative[std::size_t(n - 1)] - from_now), 1e-14) << n;
  }
}

TEST(LaplaceForms, OfTheFirstTokenUnderflowInFloat) {
  std::vector<double> const ones(1200, 1.);
  spectra::window const hann(spectra::window_shape::hann, width);
  EXPECT_EQ(absolute_form<float>(ones, node, hann).back(), 0.);
  EXPECT_NE(absolute_form<double>(ones, node, hann).back(), 0.);
}

}  // namespace
}  // namespace wane::bench
