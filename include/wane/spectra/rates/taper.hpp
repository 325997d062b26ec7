// Tapers: exponents by which the timescale of each channel grows with the position.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/checks.hpp"
#include "wane/spectra/rates/evenly_spaced.hpp"

namespace wane::spectra {

//   std::vector<double> const alpha = wane::spectra::linear_taper(8);
//   wane::spectra::adaptive_taper const adapted(log_rates, std::log(2048.));  // adapted.values()
//
// At position t, counted from 1, the rate of channel k is r_k t^{-alpha_k}. A channel with alpha =
// 1 sees the whole past at every position; a channel with alpha = 0 sees a fixed number of tokens.

// alpha_k = (N-1-k)/(N-1): the slowest channel (k = 0) stretches with the position, the fastest
// stays. N = 1 gives 0. (PoST, section 4.3; the first term of Prop. 4.16.)
inline std::vector<double> linear_taper(std::int64_t count) {
  impl::require_count(count, "count");
  std::vector<double> taper(static_cast<std::size_t>(count), 0.0);
  for (std::size_t k = 0; k + 1 < taper.size(); ++k)
    taper[k] = static_cast<double>(taper.size() - 1 - k) / static_cast<double>(taper.size() - 1);
  return taper;
}

// The taper that makes a spectrum with uneven log rates p_k geometric at a reference position:
//   alpha_k = clamp((N-1-k)/(N-1) + (p_k - p_0 - k G) / log_reference, 0, 1),
//   G = (p_{N-1} - p_0) / (N-1)                                                      (Prop. 4.16)
// Even log rates give linear_taper(). With the paper's scaling t^{-alpha} log_reference is
// log T_train. With covering scaling, (t/T_train)^{-alpha}, the spectrum is even at a position
// t_ref that the caller chooses, and log_reference = log(t_ref/T_train).
//
// Throws wane::error for log rates that are not finite or not slowest first, and for a reference of
// 0: there a taper has no effect.
class adaptive_taper {
 public:
  adaptive_taper(std::vector<double> const& log_rates, double log_reference)
      : reference_(log_reference),
        taper_(linear_taper(static_cast<std::int64_t>(log_rates.size()))),
        clamped_(log_rates.size()) {
    require(std::isfinite(log_reference) && log_reference != 0, "log_reference is ", log_reference,
            "; it must be finite and not 0: a taper has no effect at its reference of 1");
    for (std::size_t k = 0; k < log_rates.size(); ++k) {
      require(std::isfinite(log_rates[k]), "log_rates[", k, "] is ", log_rates[k],
              "; it must be finite");
      if (k > 0)
        require(log_rates[k - 1] <= log_rates[k], "log_rates[", k, "] is ", log_rates[k], " after ",
                log_rates[k - 1], "; the taper needs them slowest first");
    }
    std::vector<double> const even = impl::evenly_spaced(
        static_cast<std::int64_t>(log_rates.size()), log_rates.front(), log_rates.back());
    for (std::size_t k = 1; k + 1 < taper_.size(); ++k) {
      taper_[k] += (log_rates[k] - even[k]) / log_reference;
      clamped_[k] = taper_[k] < 0 || taper_[k] > 1;
      taper_[k] = std::clamp(taper_[k], 0.0, 1.0);
    }
  }

  std::vector<double> const& values() const& { return taper_; }
  std::vector<double> values() && { return std::move(taper_); }

  // From the gradient with respect to the taper to the gradient with respect to the log rates. A
  // clamped channel contributes none.
  std::vector<double> adjoint(std::vector<double> const& gradient) const {
    require(gradient.size() == taper_.size(), "gradient has ", gradient.size(),
            " entries; it must have one for each of the ", taper_.size(), " channels");
    std::vector<double> found(taper_.size(), 0.0);
    std::size_t const last = taper_.size() - 1;
    for (std::size_t k = 1; k < last; ++k) {
      if (clamped_[k]) continue;
      double const part = static_cast<double>(k) / static_cast<double>(last);
      double const g = gradient[k] / reference_;
      found[k] += g;
      found.front() -= (1 - part) * g;
      found.back() -= part * g;
    }
    return found;
  }

 private:
  double reference_;
  std::vector<double> taper_;
  std::vector<bool> clamped_;
};

}  // namespace wane::spectra
