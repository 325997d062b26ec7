// L of one node of STLT, as its equation (4) has it and as wane has it.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <random>
#include <vector>

#include "wane/operators/laplace.hpp"
#include "wane/run/run.hpp"
#include "wane/spectra/rates/random.hpp"

namespace wane::bench {

struct laplace_node {
  double sigma, omega;
};

// Uniform in [-1, 1).
inline std::vector<double> random_signal(index tokens, std::uint64_t seed = 1) {
  std::mt19937_64 bits(seed);
  std::vector<double> x;
  for (index t = 0; t < tokens; ++t) x.push_back(2 * spectra::unit_uniform(bits) - 1);
  return x;
}

// Equation (4), computed in T: L_n = sum_{m<=n} x_m w(n - m) e^{-s m}, n and m from 1; entry n - 1.
template <class T>
std::vector<std::complex<double>> absolute_form(std::vector<double> const& x, laplace_node node,
                                                spectra::window const& w) {
  std::vector<std::complex<T>> terms, sums;
  for (std::size_t m = 1; m <= x.size(); ++m) {
    T const scale = std::exp(static_cast<T>(-node.sigma * double(m)));
    double const turn = -node.omega * double(m);
    terms.push_back(
        static_cast<T>(x[m - 1]) * scale *
        std::complex<T>(static_cast<T>(std::cos(turn)), static_cast<T>(std::sin(turn))));
  }
  auto const reach = static_cast<std::size_t>(std::min(std::ceil(w.reach()), double(x.size())));
  std::vector<std::complex<double>> found;
  for (std::size_t n = 0; n < x.size(); ++n) {
    std::complex<T> sum = 0;
    for (std::size_t lag = 0; lag <= std::min(n, reach); ++lag)
      sum += static_cast<T>(w(double(lag))) * terms[n - lag];
    found.emplace_back(sum);
  }
  return found;
}

// What wane computes from inputs of type Io: L_n = sum_l w(l) e^{-s l} x_{n-l}.
template <class Io, spectra::window_shape Window>
std::vector<std::complex<double>> relative_form(std::vector<double> const& x, laplace_node node,
                                                double width = 0) {
  using P = widened<Io>;
  auto const tokens = static_cast<index>(x.size());
  P const sigma = static_cast<P>(node.sigma), omega = static_cast<P>(node.omega),
          width_of_head = static_cast<P>(width);
  std::complex<P> const parts[] = {P(1), {0, P(-1)}};  // Re L and Im L
  std::vector<Io> twice;
  for (double value : x) twice.insert(twice.end(), 2, static_cast<Io>(value));
  laplace_parameters<P const> nodes{
      .sigma = {&sigma, 1, 1}, .omega = {&omega, 1, 1}, .read_out = {parts, 1, 1, 2}};
  if constexpr (Window != spectra::window_shape::none) nodes.width = {&width_of_head, 1};
  using output = typename laplace<Io, Window>::output;
  std::vector<output> found(twice.size());
  run(laplace<Io, Window>({.value = {twice.data(), 1, tokens, 1, 2}}, nodes),
      sequence_view<output>(found.data(), 1, tokens, 1, 2));
  std::vector<std::complex<double>> sums;
  for (std::size_t n = 0; n < x.size(); ++n)
    sums.emplace_back(double(found[2 * n]), double(found[2 * n + 1]));
  return sums;
}

}  // namespace wane::bench
