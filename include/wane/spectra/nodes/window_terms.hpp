// Windows as sums of complex exponentials: a windowed node is a few recurrences of one pole.
// SPDX-License-Identifier: MIT
//
// For lags 0 <= l (below W where the window is cut, that is up to lag ceil(W) - 1)
//
//   w(l; W) = sum_m weight_m e^{exponent_m l / W},
//
// so sum_l w(l; W) r^l x_{n-l} (STLT, section 3) is the sum of weight_m Y_m with poles
// p_m = r e^{exponent_m / W}: Y_m(n) = p_m Y_m(n-1) + x_n, less p_m^ceil(W) x_{n-ceil(W)} where the
// window is cut. In the width each term has the slope
//
//   d/dW weight_m e^{exponent_m l / W} = weight_m (-exponent_m l / W^2) e^{exponent_m l / W}.
//
// Terms that are not real come in conjugate pairs, so the sum is real.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <numbers>
#include <span>

#include "wane/spectra/nodes/window.hpp"

namespace wane::spectra {

struct window_term {
  std::complex<double> weight, exponent;
};

}  // namespace wane::spectra

namespace wane::spectra::impl {

// Each term followed by its conjugate.
template <std::size_t N>
constexpr std::array<window_term, 2 * N> with_conjugates(std::array<window_term, N> const& terms) {
  std::array<window_term, 2 * N> all{};
  for (std::size_t i = 0; i < N; ++i) {
    all[2 * i] = terms[i];
    all[2 * i + 1] = {std::conj(terms[i].weight), std::conj(terms[i].exponent)};
  }
  return all;
}

inline constexpr std::array one_term{window_term{1, 0}};
inline constexpr std::array exponential_term{window_term{1, -1}};
inline constexpr std::array hann_terms{window_term{0.5, 0},
                                       window_term{0.25, {0, std::numbers::pi}},
                                       window_term{0.25, {0, -std::numbers::pi}}};
// e^{-x^2/2} on x >= 0 within 2.4e-8, and x times its slope within 4.8e-7. The sum of |weight| is
// 22, so recurrences in double lose a digit and a half. With each further exponential the error
// becomes about nine times smaller and the weights half as large again: 1.6e-4 with two pairs,
// 1.9e-6 with three, 2.4e-8 with four, less than the rounding of a float; 5e-12 with six, whose
// weights are 106.
//
// Found from the singular vectors of the Hankel matrix e^{-(i+j)^2 h^2/2}, whose shift has the
// exponents nearly; then the least p-norm of the error by Newton steps in 40 digits, p from 2 to
// 400. With two and three pairs all extremes of the error come out equal; here one is smaller.
inline constexpr auto gaussian_terms = with_conjugates<4>(
    {{{{2.9721825859436506, -6.759158041788641}, {-2.4919918727443946, 0.4595071845564493}},
      {{-2.8770568494520634, 1.0290129483785624}, {-2.470530758700119, 1.3968279562596033}},
      {{0.4128440270101948, 0.17931191016984616}, {-2.4247283285298877, 2.398878886673416}},
      {{-0.007969775455638541, -0.011992725688593636},
       {-2.3448067887734103, 3.5660124009313683}}}});

}  // namespace wane::spectra::impl

namespace wane::spectra {

constexpr std::span<window_term const> window_terms(window_shape shape) {
  if (shape == window_shape::hann) return impl::hann_terms;
  if (shape == window_shape::exponential) return impl::exponential_term;
  if (shape == window_shape::gaussian) return impl::gaussian_terms;
  return impl::one_term;
}

// The largest |sum of the terms - w(l; W)| over all real l >= 0 (below W where the window is cut).
constexpr double window_error(window_shape shape) {
  return shape == window_shape::gaussian ? 2.4e-8 : 0;
}

}  // namespace wane::spectra
