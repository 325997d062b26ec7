// The two-sided transform of STLT as a sum over lags, in any real type: the oracle.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <complex>
#include <numbers>
#include <vector>

#include "support/laplace_problem.hpp"
#include "wane/core/state/packed.hpp"

namespace support {

// Inputs and nodes of a laplace_problem in Real, in the order of its inputs().
template <class Real>
struct two_sided_sum : laplace_size {
  wane::spectra::window_shape shape;
  wane::future_phase phase;
  std::vector<wane::impl::token_range> sequences;
  std::array<std::vector<Real>, 6> in;

  template <class Io, wane::spectra::window_shape Window>
  two_sided_sum(laplace_problem<Io, Window> const& p, wane::future_phase ahead,
                std::vector<wane::impl::token_range> parts = {})
      : laplace_size(p), shape(Window), phase(ahead), sequences(std::move(parts)) {
    auto const wide = [](auto const& from) {
      std::vector<Real> to;
      for (auto const& v : from) to.push_back(static_cast<Real>(wane::convert<double>(v)));
      return to;
    };
    in = {wide(p.x), wide(p.sigma), wide(p.omega), wide(p.read_out), wide(p.widths), wide(p.mask)};
    if (sequences.empty())
      for (index b = 0; b < batch; ++b) sequences.push_back({b, 0, tokens});
  }

  // Z [B, T, H, V], `elsewhere` where no sequence is.
  std::vector<Real> operator()(Real elsewhere = 0) const {
    std::vector<Real> z(in[0].size(), elsewhere);
    for (index h = 0; h < heads; ++h)
      for (index j = 0; j < columns; ++j) {
        std::vector<Real> kernel;  // of n - m, from -tokens on
        for (index s = 0; s < std::ssize(sequences); ++s) {
          auto const [b, begin, end] = sequences[at(s)];
          if (s == 0 || masks > 1) kernel = kernel_of(s, h, j);
          for (index n = begin; n < end; ++n) {
            Real sum = 0;
            for (index m = begin; m < end; ++m)
              sum += kernel[at(n - m + tokens)] * in[0][place(b, m, h, j)];
            z[place(b, n, h, j)] = sum;
          }
        }
      }
    return z;
  }

  std::size_t place(index b, index t, index h, index j) const {
    return at(((b * tokens + t) * heads + h) * columns + j);
  }

 private:
  static std::size_t at(index i) { return static_cast<std::size_t>(i); }

  Real window(Real lag, Real w) const {
    Real const x = lag / w;
    using wane::spectra::window_shape;
    if (shape == window_shape::exponential) return std::exp(-x);
    if (shape == window_shape::rectangular) return x < 1 ? Real(1) : Real(0);
    if (shape == window_shape::hann)
      return x < 1 ? (1 + std::cos(std::numbers::pi_v<Real> * x)) / 2 : Real(0);
    return 1;
  }
  std::vector<Real> kernel_of(index sequence, index h, index j) const {
    std::vector<Real> kernel(at(2 * tokens + 1), Real(0));
    for (index lag = -tokens; lag <= tokens; ++lag)
      for (index k = 0; k < nodes; ++k) kernel[at(lag + tokens)] += weight(sequence, h, k, j, lag);
    return kernel;
  }
  // Re m C w(l) e^{-sigma l} e^{-i omega l}, l = |lag|, omega turned round ahead.
  Real weight(index sequence, index h, index k, index j, index lag) const {
    auto const l = static_cast<Real>(std::abs(lag));
    std::size_t const node = at(h * nodes + k),
                      read = by_column ? node * at(columns) + at(j) : node;
    Real const turn =
        lag < 0 && phase == wane::future_phase::conjugate ? in[2][node] * l : -in[2][node] * l;
    std::complex<Real> const c(in[3][2 * read], in[3][2 * read + 1]);
    Real const size = std::exp(-in[1][node] * l) * window(l, in[4][at(h)]);
    std::size_t const mask = masks > 1 ? at(sequence * heads * nodes) + node : node;
    return (masked ? in[5][mask] : Real(1)) * size *
           (c.real() * std::cos(turn) - c.imag() * std::sin(turn));
  }
};

}  // namespace support
