// tapered_rates: a base spectrum at a position under any taper, and its gradients.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/checks.hpp"

namespace wane::spectra {

//   wane::spectra::tapered_rates const at(base, wane::spectra::linear_taper(8), 2048, 100);
//   std::vector<double> const& rates = at.values();          // at position 100
//   auto const [by_log_rates, by_taper] = at.adjoint(by_rates);
//
// r_k (t/T)^{-alpha_k}, where the base is the spectrum at the position T = trained_at. T = 1 is
// PoST's reference scaling (Algorithms 1-4); T = the length trained at is its covering scaling.
// Positions count from 1. A taper of 0 leaves a channel as it is. Throws wane::error for a taper
// outside [0, 1] or of another length.
class tapered_rates {
 public:
  tapered_rates(std::vector<double> const& base, std::vector<double> const& taper,
                std::int64_t trained_at, std::int64_t position)
      : values_(base) {
    impl::require_rates(base);
    require(taper.size() == base.size(), "taper has ", taper.size(),
            " entries; it must have one for each of the ", base.size(), " rates");
    impl::require_horizon(trained_at, "trained_at");
    impl::require_horizon(position, "position");
    log_stretch_ = std::log(static_cast<double>(position) / static_cast<double>(trained_at));
    for (std::size_t k = 0; k < base.size(); ++k) {
      require(taper[k] >= 0 && taper[k] <= 1, "taper[", k, "] is ", taper[k],
              "; it must be in [0, 1]");
      values_[k] *= std::exp(-taper[k] * log_stretch_);
    }
  }

  std::vector<double> const& values() const& { return values_; }
  std::vector<double> values() && { return std::move(values_); }

  struct gradients {
    std::vector<double> log_rates;  // of the base
    std::vector<double> taper;
  };

  // From the gradient with respect to these rates.
  gradients adjoint(std::vector<double> const& gradient) const {
    require(gradient.size() == values_.size(), "gradient has ", gradient.size(),
            " entries; it must have one for each of the ", values_.size(), " rates");
    gradients found;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      found.log_rates.push_back(gradient[k] * values_[k]);
      found.taper.push_back(-found.log_rates.back() * log_stretch_);
    }
    return found;
  }

 private:
  std::vector<double> values_;
  double log_stretch_ = 0;
};

}  // namespace wane::spectra
