// The transform by Fourier's is the sum it stands for, and what the streaming operator reads.
// SPDX-License-Identifier: MIT
#include "wane/spectra/nodes/laplace_transform.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/random_values.hpp"
#include "wane/operators/laplace.hpp"
#include "wane/run/run.hpp"

namespace wane::spectra {
namespace {

laplace_nodes const nodes{{0.02, 0, 0.3}, {0, 0.7, -2.5}, 0.5};
window const windows[] = {window(window_shape::none), window(window_shape::rectangular, 7),
                          window(window_shape::hann, 30.5), window(window_shape::exponential, 20),
                          window(window_shape::gaussian, 12)};

std::vector<double> some(std::size_t count) {
  support::random_values random(3);
  std::vector<double> x(count);
  for (double& value : x) value = random.uniform(-1, 1);
  return x;
}

TEST(LaplaceTransform, IsTheSum) {
  for (std::size_t const tokens : {1u, 2u, 70u, 200u}) {
    auto const x = some(tokens);
    for (window const& w : windows)
      for (auto sides :
           {transform_sides::past, transform_sides::both, transform_sides::both_by_same_phase})
        for (std::size_t k = 0; k < 3; ++k) {
          auto const is = laplace_transform(nodes, k, w, x, sides);
          ASSERT_EQ(is.size(), tokens);
          for (std::size_t n = 0; n < tokens; ++n) {
            std::complex<double> sum = 0;
            for (std::size_t m = 0; m < tokens; ++m) {
              double const lag = static_cast<double>(n) - static_cast<double>(m);
              if (lag < 0 && sides == transform_sides::past) continue;
              double const turned = sides == transform_sides::both ? lag : std::abs(lag);
              sum += w(lag) * x[m] *
                     std::exp(std::complex<double>(-nodes.sigma[k] * 0.5 * std::abs(lag),
                                                   -nodes.omega[k] * 0.5 * turned));
            }
            EXPECT_LT(std::abs(is[n] - sum), 1e-13 * std::sqrt(static_cast<double>(tokens)))
                << int(w.shape()) << ", node " << k << ", token " << n << " of " << tokens;
          }
        }
  }
}

TEST(LaplaceTransform, IsWhatTheOperatorReads) {
  auto const x = some(3000);
  auto const transform = laplace_transform(nodes, 1, windows[2], x);
  double const sigma = 0, omega = 0.35, width = 30.5;
  std::complex<double> const read_out[] = {1., {0, -1}};  // the real part; the imaginary one
  for (int part = 0; part < 2; ++part) {
    std::vector<double> y(x.size());
    auto const tokens = static_cast<index>(x.size());
    run(laplace<double, window_shape::hann>({.value = {x.data(), 1, tokens, 1, 1}},
                                            {.sigma = {&sigma, 1, 1},
                                             .omega = {&omega, 1, 1},
                                             .read_out = {read_out + part, 1, 1, 1},
                                             .width = {&width, 1}}),
        {y.data(), 1, tokens, 1, 1});
    for (std::size_t n = 0; n < x.size(); ++n)
      EXPECT_NEAR(y[n], part == 0 ? transform[n].real() : transform[n].imag(), 1e-13) << n;
  }
}

TEST(LaplaceTransform, RefusesNodesThatAreNotThere) {
  support::expect_error({"k is 3", "3 nodes"},
                        [] { (void)laplace_transform(nodes, 3, windows[0], {1}); });
  EXPECT_TRUE(laplace_transform(nodes, 0, windows[0], {}).empty());
}

}  // namespace
}  // namespace wane::spectra
