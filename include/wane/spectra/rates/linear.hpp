// linear: the spectrum r_k = c (k+1); S4D-Real takes c = 1.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/spectra/checks.hpp"

namespace wane::spectra {

//   auto const rates = wane::spectra::linear(16);  // 1, 2, ..., 16
//
// `spacing` is c, per step; slowest first.
inline std::vector<double> linear(std::int64_t count, double spacing = 1) {
  impl::require_count(count, "count");
  impl::require_positive(spacing, "spacing");
  std::vector<double> rates(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < rates.size(); ++k) rates[k] = spacing * static_cast<double>(k + 1);
  return rates;
}

}  // namespace wane::spectra
