// retnet: RetNet's decays gamma_h = 1 - 2^{-x_h} as rates -log gamma_h, one for each head.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/checks.hpp"

namespace wane::spectra::impl {

// With more heads the slowest rate, 2^{-(5+h)}, would be denormal.
inline constexpr std::int64_t most_retnet_heads = 1000;

// The rate of gamma = 1 - 2^{-x}. log1p keeps its digits where gamma rounds to 1.
inline double retnet_rate(double exponent) { return -std::log1p(-std::exp2(-exponent)); }

}  // namespace wane::spectra::impl

namespace wane::spectra {

//   auto const rates = wane::spectra::retnet(8);
//
// gamma_h = 1 - 2^{-(5+h)}, h = 0..H-1 (Sun et al. 2023), slowest head (h = H-1) first.
inline std::vector<double> retnet(std::int64_t heads) {
  require(heads >= 1 && heads <= impl::most_retnet_heads, "heads is ", heads,
          "; it must be from 1 to ", impl::most_retnet_heads);
  std::vector<double> rates(static_cast<std::size_t>(heads));
  for (std::size_t k = 0; k < rates.size(); ++k)
    rates[k] = impl::retnet_rate(5 + static_cast<double>(rates.size() - 1 - k));
  return rates;
}

// gamma_h = 1 - 2^{-(5+3h/(H-1))}, as the PoST paper quotes RetNet (appendix E): exponents 5 to 8
// whatever H, slowest first. One head takes h = 0.
inline std::vector<double> retnet_fixed_span(std::int64_t heads) {
  impl::require_count(heads, "heads");
  std::vector<double> rates(static_cast<std::size_t>(heads));
  double const last = heads > 1 ? static_cast<double>(heads - 1) : 1;
  for (std::size_t k = 0; k < rates.size(); ++k)
    rates[k] = impl::retnet_rate(5 + 3 * (static_cast<double>(rates.size() - 1 - k) / last));
  return rates;
}

}  // namespace wane::spectra
