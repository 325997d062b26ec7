// harmonic_sum: sums of u^-alpha, which give the decay of a tapered channel between positions.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>

#include "wane/core/error.hpp"
#include "wane/spectra/checks.hpp"

namespace wane::spectra {

//   double const left = std::exp(-rate * wane::spectra::harmonic_sum(alpha, 100, 200));
//
// The sum of u^{-alpha} over first < u <= last. A channel of rate r and taper alpha keeps the part
// exp(-r harmonic_sum(alpha, first, last)) of its state from position `first` to `last`. (At alpha
// = 1 that is about (first/last)^r, a power law, where PoST's Corollary 4.13 has an exponential.)
//
// Positions up to 16 are added; beyond, the Euler-Maclaurin formula is evaluated in differences, so
// that neighbouring positions near 10^15 keep their digits. The error is 4e-15 of the sum.
inline double harmonic_sum(double alpha, std::int64_t first, std::int64_t last) {
  require(alpha >= 0 && alpha <= 1, "alpha is ", alpha, "; it must be in [0, 1]");
  require(first >= 0 && first <= last && last <= impl::longest_horizon, "positions are ", first,
          " and ", last, "; they must be from 0 to 2^53, the second not before the first");
  if (alpha == 0) return static_cast<double>(last - first);
  constexpr std::int64_t summed = 16;
  double sum = 0;
  for (; first < last && first < summed; ++first)
    sum += std::pow(static_cast<double>(first + 1), -alpha);
  if (first == last) return sum;
  auto const a = static_cast<double>(first), b = static_cast<double>(last);
  double const log_ratio = std::log1p((b - a) / a), rest = 1 - alpha;
  double const integral =
      rest == 0 ? log_ratio : std::pow(a, rest) * std::expm1(rest * log_ratio) / rest;
  // f(b) - f(a), and the odd derivatives alpha ... (alpha + n - 1) (a^{-alpha-n} - b^{-alpha-n}).
  auto const fall = [&](double n) {
    return -std::pow(a, -alpha - n) * std::expm1(-(alpha + n) * log_ratio);
  };
  double const third = alpha * (alpha + 1) * (alpha + 2);
  double const fifth = third * (alpha + 3) * (alpha + 4);
  double const seventh = fifth * (alpha + 5) * (alpha + 6);
  double const ninth = seventh * (alpha + 7) * (alpha + 8);
  double const corrections = -fall(0) / 2 + alpha * fall(1) / 12 - third * fall(3) / 720 +
                             fifth * fall(5) / 30240 - seventh * fall(7) / 1209600 +
                             ninth * fall(9) / 47900160;
  return sum + (integral + corrections);
}

// The log decay from position `first` to `last` of a channel whose rate at position u is
// r (u/trained_at)^{-alpha}.
inline double log_decay_between(double rate, double alpha, std::int64_t trained_at,
                                std::int64_t first, std::int64_t last) {
  impl::require_positive(rate, "rate");
  impl::require_horizon(trained_at, "trained_at");
  return -rate * std::pow(static_cast<double>(trained_at), alpha) *
         harmonic_sum(alpha, first, last);
}

}  // namespace wane::spectra
