// causal_convolution: what a memory would give that held its kernel exactly.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <unsupported/Eigen/FFT>
#include <vector>

namespace wane::spectra {

// y_t = Sum_{j <= t} kernel_{t-j} x_j, as long as x; a kernel that is shorter ends in zeros. By
// Fourier transforms in O(T log T); errors are some 1e-16 of |kernel| |x|, the same for all t.
inline std::vector<double> causal_convolution(std::vector<double> const& kernel,
                                              std::vector<double> const& x) {
  std::size_t size = 16;  // Eigen's real transform takes at least four numbers
  while (size < x.size() + std::min(kernel.size(), x.size())) size *= 2;
  Eigen::FFT<double> transform;
  auto const spectrum_of = [&](std::vector<double> values) {
    values.resize(std::min(values.size(), x.size()));
    values.resize(size, 0.0);
    std::vector<std::complex<double>> spectrum;
    transform.fwd(spectrum, values);
    return spectrum;
  };
  auto spectrum = spectrum_of(x);
  auto const of_kernel = spectrum_of(kernel);
  for (std::size_t i = 0; i < spectrum.size(); ++i) spectrum[i] *= of_kernel[i];
  std::vector<double> y;
  transform.inv(y, spectrum);
  y.resize(x.size());
  return y;
}

}  // namespace wane::spectra
