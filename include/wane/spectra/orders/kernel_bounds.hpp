// Bounds on power-law memories: of a rounded order, of a mixture of exponentials (VORT, section 4).
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <cstddef>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/checks.hpp"

namespace wane::spectra {

// |k_beta(t) - k_alpha(t)| is at most this, k_g(t) = t^{g-1}/Gamma(g), for orders in [least, 1],
// alpha <= beta and t >= 1: what is lost where a bank of order beta holds a token of order alpha
// (Theorem 4.1).
inline double quantisation_bound(double alpha, double beta, double t, double least) {
  require(least > 0 && least <= alpha && alpha <= beta && beta <= 1, "orders are ", least, ", ",
          alpha, " and ", beta, "; they must not fall, and lie in (0, 1]");
  require(std::isfinite(t) && t >= 1, "t is ", t, "; it must be finite and at least 1");
  double const steepest =  // digamma rises from -inf
      std::max(std::abs(boost::math::digamma(least)), std::abs(boost::math::digamma(1.0)));
  return (beta - alpha) * std::pow(t, beta - 1) / std::tgamma(beta) * (std::log(t) + steepest);
}

// Int_1^T (f(t) - t^{alpha-1})^2 dt is at least this for every mixture f = Sum weights e^{-rates t}
// of positive weights: N_alpha(T) - 2 Gamma(alpha) Sum_m weights_m rates_m^{-alpha}. (Proposition
// 4.2, without the term Int f^2 that it subtracts though the proof has it non-negative, and with
// each rate where it has the slowest for all.) Negative where the slowest rate is too slow for the
// bound to say anything.
inline double mixture_lower_bound(double alpha, double horizon, std::vector<double> const& rates,
                                  std::vector<double> const& weights) {
  require(alpha > 0 && alpha < 1, "alpha is ", alpha, "; it must be in (0, 1)");
  require(std::isfinite(horizon) && horizon >= 1, "horizon is ", horizon,
          "; it must be finite and at least 1");
  impl::require_rates(rates);
  require(weights.size() == rates.size(), "weights has ", weights.size(),
          " entries; it must have one for each of the ", rates.size(), " rates");
  double const twice = 2 * alpha - 1, log = std::log(horizon);
  double const energy = twice == 0 ? log : std::expm1(twice * log) / twice;
  double overlap = 0;
  for (std::size_t m = 0; m < rates.size(); ++m) {
    require(weights[m] >= 0, "weights[", m, "] is ", weights[m], "; it must not be negative");
    overlap += weights[m] * std::pow(rates[m], -alpha);
  }
  return energy - 2 * std::tgamma(alpha) * overlap;
}

}  // namespace wane::spectra
