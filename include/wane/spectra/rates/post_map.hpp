// PoST's map from unconstrained parameters to an ordered spectrum, its inverse and its adjoint.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/algebra/softplus.hpp"

namespace wane::spectra {

//   wane::spectra::post_parameters const p = wane::spectra::parameters_of({-8, -5, -2, 0});
//   std::vector<double> const log_rates = wane::spectra::log_rates(p);
//
// Log rates p_0 = slowest, p_k = p_{k-1} + softplus(gaps_{k-1}): they increase strictly for all
// parameters, unless a gap is lost to rounding (PoST, Algorithm 1). The map is in log rates. One in
// rates, another reading of Definition 4.4, would be linear and could fall below 0.
struct post_parameters {
  double slowest = 0;        // theta
  std::vector<double> gaps;  // delta, one fewer than channels
};

inline std::vector<double> log_rates(post_parameters const& parameters) {
  std::vector<double> p{parameters.slowest};
  for (double gap : parameters.gaps) p.push_back(p.back() + softplus(gap));
  return p;
}

// The parameters of increasing log rates (Prop. 4.18). Throws wane::error for others.
inline post_parameters parameters_of(std::vector<double> const& log_rates) {
  require(!log_rates.empty(), "log_rates is empty; it must hold at least one");
  post_parameters found{log_rates.front(), {}};
  for (std::size_t k = 1; k < log_rates.size(); ++k) {
    require(log_rates[k] > log_rates[k - 1], "log_rates[", k, "] is ", log_rates[k], " after ",
            log_rates[k - 1], "; the map gives increasing ones only");
    found.gaps.push_back(inverse_softplus(log_rates[k] - log_rates[k - 1]));
  }
  return found;
}

// From the gradient with respect to log rates to the gradient with respect to the parameters.
inline post_parameters log_rates_adjoint(post_parameters const& parameters,
                                         std::vector<double> const& gradient) {
  require(gradient.size() == parameters.gaps.size() + 1, "gradient has ", gradient.size(),
          " entries; it must have one for each of the ", parameters.gaps.size() + 1, " channels");
  post_parameters found{0, std::vector<double>(parameters.gaps.size())};
  for (std::size_t k = gradient.size(); k-- > 0;) {
    found.slowest += gradient[k];
    if (k > 0) found.gaps[k - 1] = found.slowest * logistic(parameters.gaps[k - 1]);
  }
  return found;
}

}  // namespace wane::spectra
