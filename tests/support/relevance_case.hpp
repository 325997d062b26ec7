// STLT by its equations: coefficients of nodes, relevance and its softmax, as naive loops.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <complex>
#include <vector>

#include "support/laplace_problem.hpp"
#include "wane/spectra/nodes/window.hpp"

namespace support {

// L_nk of a problem of one head of a sequence, [T, 2 S V] numbers as laplace_coefficients has them.
// Ahead: the future is there too.
template <class Real, class Io, wane::spectra::window_shape Window>
std::vector<Real> naive_coefficients(laplace_problem<Io, Window> const& p, index batch, index head,
                                     bool ahead) {
  auto const at = [](auto const& of, index i) {
    return static_cast<Real>(static_cast<double>(of[static_cast<std::size_t>(i)]));
  };
  index const T = p.tokens, V = p.columns, S = p.nodes;
  std::vector<Real> all(static_cast<std::size_t>(T * 2 * S * V));
  wane::spectra::window const window(Window, static_cast<double>(at(p.widths, head)));
  for (index k = 0; k < S; ++k) {
    Real const sigma = at(p.sigma, head * S + k), omega = at(p.omega, head * S + k);
    index const of_mask = ((p.masks > 1 ? batch : 0) * p.heads + head) * S + k;
    Real const mask = p.masked ? at(p.mask, of_mask) : Real(1);
    for (index n = 0; n < T; ++n)
      for (index m = 0; m < (ahead ? T : n + 1); ++m) {
        Real const lag = static_cast<Real>(n - m), far = std::abs(lag);
        Real const weight =
            mask * static_cast<Real>(window(static_cast<double>(far))) * std::exp(-sigma * far);
        for (index j = 0; j < V; ++j) {
          Real const x = at(p.x, ((batch * T + m) * p.heads + head) * V + j);
          auto const to = static_cast<std::size_t>((n * 2 * S + 2 * k) * V + j);
          all[to] += weight * std::cos(omega * lag) * x;
          all[to + static_cast<std::size_t>(V)] -= weight * std::sin(omega * lag) * x;
        }
      }
  }
  return all;
}

// Z = softmax(R / sqrt(S)) V of Q query tokens, row by row; causal where both are of one sequence.
template <class Real>
std::vector<Real> naive_relevance(std::vector<Real> const& queries, std::vector<Real> const& keys,
                                  std::vector<Real> const& values, index count, index nodes,
                                  bool causal) {
  auto const size = static_cast<index>(queries.size()) / count;
  auto const keys_count = static_cast<index>(keys.size()) / size;
  auto const V = static_cast<index>(values.size()) / keys_count;
  auto const at = [](auto& of, index i) -> auto& { return of[static_cast<std::size_t>(i)]; };
  std::vector<Real> z(static_cast<std::size_t>(count * V));
  for (index n = 0; n < count; ++n) {
    Real total = 0;
    std::vector<Real> weight;
    for (index m = 0; m < (causal ? n + 1 : keys_count); ++m) {
      Real r = 0;
      for (index i = 0; i < size; ++i) r += at(queries, n * size + i) * at(keys, m * size + i);
      total += std::exp(r / std::sqrt(static_cast<Real>(nodes)));
      weight.push_back(std::exp(r / std::sqrt(static_cast<Real>(nodes))));
    }
    for (index m = 0; m < static_cast<index>(weight.size()); ++m)
      for (index j = 0; j < V; ++j)
        at(z, n * V + j) += at(weight, m) / total * at(values, m * V + j);
  }
  return z;
}

}  // namespace support
