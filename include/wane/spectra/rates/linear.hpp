// linear: the spectrum r_k = c (k+1), of S4D-Real and of HiPPO-LegS at a position.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/spectra/checks.hpp"

namespace wane::spectra {

//   auto const rates = wane::spectra::linear(16);  // 1, 2, ..., 16
//
// `spacing` is c, per step; slowest first. S4D-Real's lambda_n = -(n+1) with the step Delta is
// c = Delta.
inline std::vector<double> linear(std::int64_t count, double spacing = 1) {
  impl::require_count(count, "count");
  impl::require_positive(spacing, "spacing");
  std::vector<double> rates(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < rates.size(); ++k) rates[k] = spacing * static_cast<double>(k + 1);
  return rates;
}

// HiPPO-LegS at `position` t: A_nn = n + 1 and d/dt c = -(1/t) A c + (1/t) B x, so that the rates,
// the eigenvalues of the triangular A / t, are (n+1)/t per step. As t grows all timescales grow
// with it: mode n keeps (m/t)^(n+1) of position m. S4D-Real has left out the 1/t.
inline std::vector<double> hippo_legs(std::int64_t count, std::int64_t position) {
  impl::require_horizon(position, "position");
  return linear(count, 1 / static_cast<double>(position));
}

}  // namespace wane::spectra
