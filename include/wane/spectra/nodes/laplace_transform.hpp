// laplace_transform: the short-time Laplace transform of a whole sequence, node by node, offline.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <vector>

#include "wane/core/recurrence/poles.hpp"
#include "wane/spectra/algebra/convolution.hpp"
#include "wane/spectra/nodes/laplace_nodes.hpp"
#include "wane/spectra/nodes/window.hpp"

namespace wane::spectra {

// Which tokens a transform sees: the past and the present, or both sides. `both` weighs the token l
// ahead by conj(r)^l, the kernel e^{-sigma |l|} e^{-i omega l} of a signed lag; both_by_same_phase
// weighs it by r^l.
enum class transform_sides { past, both, both_by_same_phase };

//   using wane::spectra::window, wane::spectra::window_shape;
//   auto const L = wane::spectra::laplace_transform(nodes, k, window(window_shape::hann, 64), x);
//
// L_n = sum_l w(l; W) r^l x_{n-l} of node k, r = e^{-s_k step}, for all n; as long as x (STLT,
// eq. (3) and (4), with lags counted from the present token). Lags and W are in tokens. Takes
// O(T log T) by Fourier transforms in double. Errors are about 1e-16 of the norms of kernel and x,
// at every n. Throws wane::error where there is no node k.
inline std::vector<std::complex<double>> laplace_transform(
    laplace_nodes const& nodes, std::size_t k, window const& weights, std::vector<double> const& x,
    transform_sides sides = transform_sides::past) {
  require_nodes(nodes, -1);
  require(k < nodes.sigma.size(), "k is ", k, "; there are ", nodes.sigma.size(), " nodes");
  if (x.empty()) return {};
  auto const lags =
      static_cast<std::size_t>(std::min(std::ceil(weights.reach()), static_cast<double>(x.size())));
  std::vector<double> kernel[2];
  for (std::size_t l = 0; l < lags; ++l) {
    auto const lag = static_cast<double>(l);
    std::complex<double> const r =
        weights(lag) *
        wane::impl::power_of(-nodes.sigma[k] * nodes.step, -nodes.omega[k] * nodes.step, lag);
    kernel[0].push_back(r.real()), kernel[1].push_back(r.imag());
  }
  std::vector<double> found[2];
  for (int part = 0; part < 2; ++part) found[part] = causal_convolution(kernel[part], x);
  if (sides != transform_sides::past) {
    std::vector<double> const turned(x.rbegin(), x.rend());
    for (int part = 0; part < 2; ++part) {
      kernel[part][0] = 0;
      double const sign = part == 1 && sides == transform_sides::both ? -1 : 1;
      auto const future = causal_convolution(kernel[part], turned);
      for (std::size_t n = 0; n < x.size(); ++n) found[part][n] += sign * future[x.size() - 1 - n];
    }
  }
  std::vector<std::complex<double>> transform;
  for (std::size_t n = 0; n < x.size(); ++n) transform.emplace_back(found[0][n], found[1][n]);
  return transform;
}

}  // namespace wane::spectra
