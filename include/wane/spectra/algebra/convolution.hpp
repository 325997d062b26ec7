// causal_convolution: the output of a memory that holds its kernel exactly.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <unsupported/Eigen/FFT>
#include <utility>
#include <vector>

namespace wane::spectra::impl {

// Fourier transforms of real sequences, padded with zeros so that no convolution wraps round.
class padded_transform {
 public:
  using spectrum = std::vector<std::complex<double>>;

  // For convolutions of two sequences whose lengths add up to at most `length`.
  explicit padded_transform(std::size_t length) {
    while (size_ < length) size_ *= 2;
    transform_.SetFlag(Eigen::FFT<double>::HalfSpectrum);
  }

  spectrum forward(std::vector<double> values) {
    values.resize(size_, 0.0);
    spectrum found;
    transform_.fwd(found, values);
    return found;
  }
  // The first `count` numbers.
  std::vector<double> inverse(spectrum const& of, std::size_t count) {
    std::vector<double> found;
    transform_.inv(found, of);
    found.resize(count);
    return found;
  }

 private:
  std::size_t size_ = 16;  // Eigen's real transform takes at least four numbers
  Eigen::FFT<double> transform_;
};

}  // namespace wane::spectra::impl

namespace wane::spectra {

//   std::vector<double> const y = wane::spectra::causal_convolution(kernel, x);
//
// y_t = Sum_{j <= t} kernel_{t-j} x_j. y is as long as x; a shorter kernel counts as 0 beyond its
// end. Takes O(T log T) by Fourier transforms. Errors are about 1e-16 of |kernel| |x| at every t.
inline std::vector<double> causal_convolution(std::vector<double> kernel,
                                              std::vector<double> const& x) {
  kernel.resize(std::min(kernel.size(), x.size()));
  impl::padded_transform transform(kernel.size() + x.size());
  auto spectrum = transform.forward(x);
  auto const of_kernel = transform.forward(std::move(kernel));
  for (std::size_t i = 0; i < spectrum.size(); ++i) spectrum[i] *= of_kernel[i];
  return transform.inverse(spectrum, x.size());
}

}  // namespace wane::spectra
