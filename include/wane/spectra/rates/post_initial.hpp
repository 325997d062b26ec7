// PoST's initial parameters for Mamba-2, RetNet, GLA, Gated DeltaNet and RWKV-7.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/algebra/softplus.hpp"
#include "wane/spectra/checks.hpp"
#include "wane/spectra/rates/evenly_spaced.hpp"
#include "wane/spectra/rates/taper.hpp"

namespace wane::spectra::impl {

inline void require_trained_at(std::int64_t trained_at) {
  require(trained_at >= 2 && trained_at <= longest_horizon, "trained_at is ", trained_at,
          "; it must be from 2 to 2^53 steps");
}

}  // namespace wane::spectra::impl

namespace wane::spectra {

//   auto const A_log = wane::spectra::mamba2_log_rates(heads, 2048);  // trained at 2048 tokens
//   auto const taper = wane::spectra::linear_taper(heads);
//
// `trained_at` is T, the length in tokens at which a model is trained.

// The time step for which mamba2_log_rates() is made.
inline constexpr double mamba2_dt = 0.05;

// Mamba-2: log(-A_k) such that -A_k dt goes from 1/T to 1 at dt = mamba2_dt. The decay is
// log w = -exp(p_k) t^{-alpha_k} dt_t; this even spectrum takes the linear taper. (Section 5.2.)
inline std::vector<double> mamba2_log_rates(std::int64_t heads, std::int64_t trained_at) {
  impl::require_trained_at(trained_at);
  return impl::evenly_spaced(heads, -std::log(mamba2_dt * static_cast<double>(trained_at)),
                             -std::log(mamba2_dt));
}

// GLA and RetNet: log rates from 1/T to 1, log gamma = -exp(p_h) t^{-alpha_h}. (Algorithm 4.)
inline std::vector<double> retnet_log_rates(std::int64_t heads, std::int64_t trained_at) {
  impl::require_trained_at(trained_at);
  return impl::evenly_spaced(heads, -std::log(static_cast<double>(trained_at)), 0);
}

// Gated DeltaNet: A_log from 0 to log T; the decay is -exp(A_log) softplus(a + dt_bias) t^{-alpha},
// so that rates go from 1/T to 1 where the softplus is 1/T. (Section 5.4.)
inline std::vector<double> gated_delta_net_log_rates(std::int64_t heads, std::int64_t trained_at) {
  impl::require_trained_at(trained_at);
  return impl::evenly_spaced(heads, 0, std::log(static_cast<double>(trained_at)));
}

// RWKV-7: log w = -e^{-1/2} logistic(l), l the logit of a channel at a token.
inline constexpr double rwkv7_fastest_rate = 0.60653065971263342;  // e^{-1/2}

// Logits w0, evenly from the logit of the rate 1/T up to 0.5. (Section 5.3.)
inline std::vector<double> rwkv7_logits(std::int64_t channels, std::int64_t trained_at) {
  require(trained_at >= 3 && trained_at <= impl::longest_horizon, "trained_at is ", trained_at,
          "; it must be from 3 to 2^53 steps, for no channel is as fast as 1/2");
  double const slowest = 1 / (rwkv7_fastest_rate * static_cast<double>(trained_at));
  return impl::evenly_spaced(channels, std::log(slowest / (1 - slowest)), 0.5);
}

// The taper of these logits: adaptive_taper of p_k = log logistic(w0_k). (Corollary 5.1.)
inline std::vector<double> rwkv7_taper(std::vector<double> const& logits, std::int64_t trained_at) {
  impl::require_trained_at(trained_at);
  std::vector<double> p;
  for (double logit : logits) p.push_back(-softplus(-logit));
  return adaptive_taper(p, std::log(static_cast<double>(trained_at))).values();
}

// The bias that the authors' code adds to the decay logits: 2.5 u |u|, u from -1 to 1 over the
// channels of a head.
inline std::vector<double> rwkv7_zigzag(std::int64_t channels, std::int64_t of_head) {
  impl::require_count(channels, "channels");
  require(of_head >= 2, "of_head is ", of_head, "; a head has at least 2 channels");
  std::vector<double> bias;
  double const middle = static_cast<double>(of_head - 1) / 2;
  for (std::int64_t n = 0; n < channels; ++n) {
    double const u = (static_cast<double>(n % of_head) - middle) / middle;
    bias.push_back(2.5 * u * std::abs(u));
  }
  return bias;
}

// The logit at position t: logit - alpha log t, as the paper has it. It tapers the rate by exactly
// t^{-alpha} only where the logistic is an exponential.
inline double rwkv7_tapered_logit(double logit, double alpha, std::int64_t position) {
  impl::require_horizon(position, "position");
  return logit - alpha * std::log(static_cast<double>(position));
}

// The logit l at position t with logistic(l) = logistic(logit) t^{-alpha}.
inline double rwkv7_exactly_tapered_logit(double logit, double alpha, std::int64_t position) {
  impl::require_horizon(position, "position");
  double const log = -softplus(-logit) - alpha * std::log(static_cast<double>(position));
  return log - std::log(-std::expm1(log));
}

}  // namespace wane::spectra
