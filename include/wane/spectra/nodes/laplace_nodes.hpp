// Laplace nodes: complex decays with a half-life and a frequency each (STLT, section 3).
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/algebra/softplus.hpp"
#include "wane/spectra/checks.hpp"
#include "wane/spectra/rates/evenly_spaced.hpp"
#include "wane/spectra/rates/geometric.hpp"

namespace wane::spectra {

//   auto const nodes = wane::spectra::initial_laplace_nodes(16, 0.001, 1, 3.0);
//   double const tokens = nodes.half_life(0);
//
// Nodes s_k = sigma_k + i omega_k, per unit of time; a token takes `step` units. Each token
// multiplies the state of node k by the pole e^{-s_k step}.
struct laplace_nodes {
  std::vector<double> sigma, omega;
  double step = 1;

  std::complex<double> pole(std::size_t k) const {
    return std::exp(std::complex<double>(-sigma[k], -omega[k]) * step);
  }
  // Tokens until node k has lost half of its state; turns of its phase in a token.
  double half_life(std::size_t k) const { return std::numbers::ln2 / (sigma[k] * step); }
  double frequency(std::size_t k) const { return omega[k] * step / (2 * std::numbers::pi); }
};

// Throws wane::error unless every sigma exceeds `least` and every node turns by at most pi in a
// token. A faster node would alias: its samples are those of a slower one.
inline void require_nodes(laplace_nodes const& nodes, double least = 0) {
  require(!nodes.sigma.empty(), "sigma is empty; it must hold at least one node");
  require(nodes.omega.size() == nodes.sigma.size(), "omega has ", nodes.omega.size(),
          " entries; it must have one for each of the ", nodes.sigma.size(), " of sigma");
  impl::require_positive(nodes.step, "step");
  for (std::size_t k = 0; k < nodes.sigma.size(); ++k) {
    require(std::isfinite(nodes.sigma[k]) && nodes.sigma[k] > least, "sigma[", k, "] is ",
            nodes.sigma[k], "; it must be finite and above ", least);
    require(std::abs(nodes.omega[k]) * nodes.step <= std::numbers::pi, "omega[", k, "] is ",
            nodes.omega[k], "; with step ", nodes.step,
            " it must be within pi/step, or it aliases");
  }
}

// sigma is even in the logarithm from `slowest` to `fastest`, omega even from 0 to `last_omega`.
inline laplace_nodes initial_laplace_nodes(std::int64_t count, double slowest, double fastest,
                                           double last_omega, double step = 1) {
  laplace_nodes nodes{geometric(count, slowest, fastest), {}, step};
  require(last_omega >= 0, "last_omega is ", last_omega, "; it must not be negative");
  nodes.omega = impl::evenly_spaced(count, 0, last_omega);
  require_nodes(nodes);
  return nodes;
}

// The nodes with the indices `active`, in the same order, for a layer that drops the others; take
// the read-outs with the same indices. Throws wane::error unless `active` rises and names existing
// nodes. It may be empty, but a recurrence needs at least one node.
inline laplace_nodes kept_nodes(laplace_nodes const& nodes, std::span<std::size_t const> active) {
  require_nodes(nodes);
  laplace_nodes kept{{}, {}, nodes.step};
  for (std::size_t n = 0; n < active.size(); ++n) {
    std::size_t const k = active[n];
    require(k < nodes.sigma.size(), "active[", n, "] is ", k, "; there are ", nodes.sigma.size(),
            " nodes and it must be one of them, from 0");
    if (n > 0)
      require(active[n - 1] < k, "active[", n, "] is ", k, ", after ", active[n - 1],
              "; active must rise");
    kept.sigma.push_back(nodes.sigma[k]), kept.omega.push_back(nodes.omega[k]);
  }
  return kept;
}

// sigma = least + softplus(parameter), above `least` for every parameter.
inline double sigma_of(double parameter, double least) { return least + softplus(parameter); }
inline double sigma_slope(double parameter) { return logistic(parameter); }
inline double parameter_of_sigma(double sigma, double least) {
  require(sigma > least, "sigma is ", sigma, "; it must be above ", least);
  return inverse_softplus(sigma - least);
}

}  // namespace wane::spectra
