// PoST's map: an ordered spectrum from parameters that may have any value, and back.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/algebra/softplus.hpp"

namespace wane::spectra {

// Log rates p_0 = slowest, p_k = p_{k-1} + softplus(gaps_{k-1}): strictly increasing whatever the
// parameters, as long as gaps are not rounded away (PoST, Algorithm 1, in log rates: in rates,
// where Definition 4.4 may be read to put it, the sequence would be linear, and could go below 0).
struct post_parameters {
  double slowest = 0;        // theta
  std::vector<double> gaps;  // delta, one less than channels
};

inline std::vector<double> log_rates(post_parameters const& parameters) {
  std::vector<double> p{parameters.slowest};
  for (double gap : parameters.gaps) p.push_back(p.back() + softplus(gap));
  return p;
}

// The parameters of an increasing sequence of log rates (Prop. 4.18).
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

// From the gradient by log rates to that by parameters.
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
