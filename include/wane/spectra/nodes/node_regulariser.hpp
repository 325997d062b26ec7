// regularise: a loss that asks for few Laplace nodes, slow turns and even decays (STLT).
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "wane/spectra/checks.hpp"
#include "wane/spectra/nodes/laplace_nodes.hpp"

namespace wane::spectra {

// The weights lambda of the three terms; 0 leaves a term out.
struct node_penalties {
  double omega = 0, sigma = 0, mask = 0;
};

// R, and its gradients with respect to sigma, omega and mask of every node.
struct regularisation {
  double loss = 0;
  std::vector<double> sigma, omega, mask;
};

// R = sum_k lambda_omega |omega_k| m_k + lambda_sigma (sigma_k - sigma_{k-1})^2 m_k m_{k-1}
//     + lambda_mask m_k                                                       (STLT, section 3.6)
//
//   auto const r = wane::spectra::regularise(nodes, mask, {.omega = 1e-3, .mask = 1e-2});
//   loss += r.loss;
//
// The second term starts at k = 1 and compares neighbours in the order given, so it is meant for
// sorted sigma. sigma and omega are per unit of time. The mask is that of one sequence. The slope
// of |omega| at 0 counts as 0. Throws wane::error when require_nodes() does, for a mask that is not
// in [0, 1] for every node, and for a negative penalty.
inline regularisation regularise(laplace_nodes const& nodes, std::span<double const> mask,
                                 node_penalties const& lambda) {
  require_nodes(nodes);
  std::size_t const count = nodes.sigma.size();
  require(mask.size() == count, "mask has ", mask.size(), " entries; it must have one for each of ",
          count, " nodes");
  for (std::size_t k = 0; k < count; ++k)
    require(mask[k] >= 0 && mask[k] <= 1, "mask[", k, "] is ", mask[k], "; it must be in [0, 1]");
  for (auto const& [name, weight] :
       {std::pair{"omega", lambda.omega}, {"sigma", lambda.sigma}, {"mask", lambda.mask}})
    require(std::isfinite(weight) && weight >= 0, "the penalty of ", name, " is ", weight,
            "; it must be finite and not negative");

  regularisation r{0, std::vector<double>(count), std::vector<double>(count),
                   std::vector<double>(count)};
  for (std::size_t k = 0; k < count; ++k) {
    double const omega = nodes.omega[k];
    r.mask[k] = lambda.omega * std::abs(omega) + lambda.mask;
    r.loss += r.mask[k] * mask[k];
    r.omega[k] = omega == 0 ? 0 : std::copysign(lambda.omega * mask[k], omega);
    if (k == 0) continue;
    double const step = nodes.sigma[k] - nodes.sigma[k - 1], bend = lambda.sigma * step * step;
    double const slope = 2 * lambda.sigma * step * mask[k] * mask[k - 1];
    r.loss += bend * mask[k] * mask[k - 1];
    r.sigma[k] += slope, r.sigma[k - 1] -= slope;
    r.mask[k] += bend * mask[k - 1], r.mask[k - 1] += bend * mask[k];
  }
  return r;
}

}  // namespace wane::spectra
