// Error bounds of power-law memories: of a rounded order, of any mixture (VORT, section 4).
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

//   double const most = wane::spectra::quantisation_bound(0.5, 0.6, 100, 0.1);  // at lag 100
//
// An upper bound on |k_beta(t) - k_alpha(t)|, k_g(t) = t^{g-1}/Gamma(g), for orders in [least, 1]
// with alpha <= beta, and t >= 1: the error of holding a token of order alpha in a bank of order
// beta (Theorem 4.1).
inline double quantisation_bound(double alpha, double beta, double t, double least) {
  require(least > 0 && least <= alpha && alpha <= beta && beta <= 1, "orders are ", least, ", ",
          alpha, " and ", beta, "; they must not fall, and lie in (0, 1]");
  require(std::isfinite(t) && t >= 1, "t is ", t, "; it must be finite and at least 1");
  double const steepest =  // digamma rises from -inf
      std::max(std::abs(boost::math::digamma(least)), std::abs(boost::math::digamma(1.0)));
  return (beta - alpha) * std::pow(t, beta - 1) / std::tgamma(beta) * (std::log(t) + steepest);
}

// A lower bound on Int_1^T (f(t) - t^{alpha-1})^2 dt for every mixture f = Sum weights e^{-rates t}
// with positive weights: N_alpha(T) - 2 Gamma(alpha) Sum_m weights_m rates_m^{-alpha}. T is
// `horizon`. It is negative, and says nothing, where the slowest rate is too slow.
//
// (Proposition 4.2, with two changes: the proposition subtracts Int f^2, which its proof shows to
// be non-negative; and it takes the slowest rate for all.)
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
