// PoST's rates at a position: a base spectrum stretched by the taper, or a spectrum of its own.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/checks.hpp"
#include "wane/spectra/rates/best_range.hpp"
#include "wane/spectra/rates/geometric.hpp"
#include "wane/spectra/rates/taper.hpp"
#include "wane/spectra/rates/tapered_rates.hpp"

namespace wane::spectra::impl {

inline std::vector<double> linearly_tapered(std::vector<double> const& base,
                                            std::int64_t trained_at, std::int64_t position) {
  require_rates(base);
  for (std::size_t k = 1; k < base.size(); ++k)
    require(base[k - 1] <= base[k], "rates[", k, "] is ", base[k], " after ", base[k - 1],
            "; the taper needs them slowest first");
  auto const taper = linear_taper(static_cast<std::int64_t>(base.size()));
  return tapered_rates(base, taper, trained_at, position).values();
}

// Fewer channels than this cannot cover [0.3/t, 4] well; post() searches for their range.
inline constexpr std::int64_t channels_for_wide_range = 16;

}  // namespace wane::spectra::impl

namespace wane::spectra {

//   auto const base = wane::spectra::geometric(16, wane::spectra::unit_range(2048));
//   auto const rates = wane::spectra::covering_rates(base, 2048, 100);  // at position 100
//
// Covering scaling, r_k (t/T)^{-alpha_k} with the linear taper alpha and T = trained_at. At every
// position t the timescales cover [1, t] as the base covers [1, T] (Theorem 4.11): a geometric base
// on [l/T, u] becomes geometric on [l/t, u]. Positions count from 1; the base is slowest first.
inline std::vector<double> covering_rates(std::vector<double> const& base, std::int64_t trained_at,
                                          std::int64_t position) {
  return impl::linearly_tapered(base, trained_at, position);
}

// Reference scaling, r_k t^{-alpha_k} (Algorithms 1-4): timescales of a base that covers [1, T]
// cover [1, T t] at position t.
inline std::vector<double> reference_rates(std::vector<double> const& base, std::int64_t position) {
  return impl::linearly_tapered(base, 1, position);
}

// The spectrum made for position t: geometric on [0.3/t, 4], and for N < 16 on the range that fits
// l^{-beta} on lags 1..t best.
inline std::vector<double> post(std::int64_t count, std::int64_t position, double beta = 0.5) {
  impl::require_count(count, "count");
  impl::require_horizon(position, "position");
  impl::require_positive(beta, "beta");
  if (count >= impl::channels_for_wide_range) return geometric(count, wide_range(position));
  return geometric(count, best_range(count, position, beta));
}

}  // namespace wane::spectra
