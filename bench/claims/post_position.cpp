// The claims of PoST (arXiv 2604.07658) about positions: 4.9 to 4.15, appendix B.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "claims/claim.hpp"
#include "wane/spectra/fit/fit.hpp"
#include "wane/spectra/rates/analysis.hpp"
#include "wane/spectra/rates/geometric.hpp"
#include "wane/spectra/rates/harmonic.hpp"
#include "wane/spectra/rates/post.hpp"
#include "wane/spectra/rates/random.hpp"
#include "wane/spectra/rates/taper.hpp"

namespace wane::bench {
namespace {

using namespace spectra;

// Proposition 4.9 at t = sqrt T.
finding effective() {
  auto const counted =
      static_cast<double>(channels_within(geometric(32, unit_range(1000000)), 1000));
  double const claimed = effective_channels(32, 1000, 1000000);
  return {counted / claimed, std::abs(counted - claimed) <= 1, false,
          "N 32, T 1e6, t 1000: channels with a timescale in [1, t]; exactly floor((N-1) log t/log "
          "T) + 1"};
}
// The channels that are too slow for position t, [1, t] their lags.
finding waste() {
  double found = 0;
  for (double rate : geometric(32, unit_range(1000000)))
    if (rate < 1 / 1000.) found = std::max(found, std::exp(-rate) - std::exp(-rate * 1000));
  return {found, found <= -std::expm1(-1), false, "N 32, T 1e6, t 1000"};
}
// Part 2: how many channels made for t have the error on [1, t] of 32 channels made for T = t^2.
finding halved_exponent() {
  constexpr std::int64_t t = 1000;
  auto const error = [](std::int64_t count, std::int64_t horizon) {
    return fit(geometric(count, unit_range(horizon)), power_law(0.5), t).max_absolute_error;
  };
  double const fixed = error(32, t * t);
  std::int64_t count = 2;
  while (error(count, t) > fixed) ++count;
  auto const found = static_cast<double>(count);
  return {found, std::abs(found / 16 - 1) <= 0.1, false,
          "fewest rates in [1/t, 1] as good on 1..t as 32 in [1/T, 1], T 1e6, t 1000"};
}
// Part 2, the second inequality: exponents of the bound at t and of the one at T.
finding degraded_bound() {
  auto const quotient = [](double t, double horizon, double c) {
    double const at_t = std::log(t) / ((std::log(t) + c) * std::log(horizon));
    return at_t * (std::log(horizon) + c);
  };
  bool reversed = true;
  for (double horizon : {1e3, 1e6, 1e9})
    for (double t = 2; t < horizon; t *= 2)
      for (double c : {0.1, 1.0, 3.0, 10.0}) reversed = reversed && quotient(t, horizon, c) < 1;
  double const found = quotient(1000, 1e6, 3);
  return {found, found >= 1, reversed,
          "t 1000, T 1e6, C 3; below 1 for all t < T and C > 0: the bound at t is the weaker one"};
}

// Equation (7) on a base that spans [1, T]: the slowest timescale at t = T.
finding taper_reference() {
  constexpr std::int64_t trained = 2048, t = 2048;
  auto const base = geometric(16, unit_range(trained));
  double const printed = 1 / (base[0] * std::pow(double(t), -linear_taper(16)[0]));
  double const covering = 1 / covering_rates(base, trained, t)[0];
  return {printed / t, std::abs(printed / t - 1) < 1e-9, std::abs(covering / t - 1) < 1e-9,
          "slowest timescale over t, at t = T = 2048; (t/T)^-alpha has it"};
}
// Corollary 4.13: half of the way back, taper 1, rate 1.
finding impulse_response() {
  double const found = std::exp(-harmonic_sum(1, 50000, 100000));
  return {found, std::abs(found - std::exp(-0.5)) < 1e-3, std::abs(found - 0.5) < 1e-4,
          "lag t/2 at t 1e5: (1 - 1/2)^1, a power law, not e^-1/2"};
}
finding scale_free() {
  double const early = std::exp(-harmonic_sum(1, 5000, 10000));
  double const late = std::exp(-harmonic_sum(1, 5000000, 10000000));
  return {late / early, std::abs(late / early - 1) < 1e-3, false,
          "response at lag t/2, t = 1e7 over t = 1e4, slowest channel"};
}
finding fastest_channel() {
  double const found = harmonic_sum(0, 1000000 - 37, 1000000) / harmonic_sum(0, 1000 - 37, 1000);
  return {found, found == 1, false, "log response at lag 37, t 1e6 over t 1000, fastest channel"};
}

// Remark 4.14: the log of the product of the gates j = t-s..t-1 over w_t^s, rate 1.
double log_discrepancy(double alpha, std::int64_t t, std::int64_t s) {
  double const frozen = static_cast<double>(s) * std::pow(static_cast<double>(t), -alpha);
  return frozen - harmonic_sum(alpha, t - s - 1, t - 1);
}
// As printed at s = t^{3/4}, with 10 for the constant; and for lags up to the timescale t^alpha.
finding product_of_gates() {
  constexpr std::int64_t t = 1000000000000, s = 1000000000;
  double worst = 0;
  for (double alpha : {0.25, 0.5, 0.75, 0.9})
    for (std::int64_t at = 1000000; at <= t; at *= 100) {
      auto const timescale = std::pow(static_cast<double>(at), alpha);
      for (double part : {0.1, 0.3, 1.0}) {
        auto const lag = static_cast<std::int64_t>(part * timescale);
        double const apart = std::expm1(log_discrepancy(alpha, at, lag));
        worst = std::max(worst, std::abs(apart) * double(at) / (alpha * double(lag)));
      }
    }
  double const found = std::exp(log_discrepancy(0.5, t, s));
  char remark[200];
  std::snprintf(
      remark, sizeof remark,
      "alpha 0.5, s = t^(3/4), t 1e12: e^-1/4 at every t, though s/t goes to 0; up to the "
      "timescale it is 1 +- %.2f alpha s/t",
      worst);
  return {found, std::abs(found - 1) < 10 * 0.5 * double(s) / double(t), worst < 2, remark};
}
finding impulse_response_between() {
  double const t = 100000;
  double const exact = harmonic_sum(0.5, 50000, 100000), frozen = 50000 * std::pow(t, -0.5);
  return {
      exact / frozen, std::abs(exact / frozen - 1) < 0.25, false,
      "log decay over the frozen one, taper 0.5, lag t/2: 1 + alpha f/2 + ..., in the logarithm"};
}

// Corollary 4.15 by its proof: octaves of information J in [1-eps, 1+eps], channel k at the
// fraction of all octaves below which lies alpha_k of the information.
double place_of(double part, std::vector<double> const& information) {
  double total = 0;
  for (double j : information) total += j;
  double rest = part * total;
  std::size_t octave = 0;
  while (octave + 1 < information.size() && rest > information[octave])
    rest -= information[octave++];
  return (static_cast<double>(octave) + rest / information[octave]) /
         static_cast<double>(information.size());
}
finding equipartition() {
  constexpr std::size_t octaves = 20;
  auto const even = linear_taper(16);
  double worst = 0, sharper = 0, ends = 0;
  std::mt19937_64 bits(1);
  for (double eps : {0.1, 0.5, 0.9})
    for (std::size_t i = 0; i < 1000; ++i) {
      std::vector<double> information;  // little first, or much; then at random
      for (std::size_t j = 0; j < octaves; ++j) {
        double const sign =
            i < 2 * octaves ? ((j < i / 2) == (i % 2 == 0) ? 1 : -1) : 2 * unit_uniform(bits) - 1;
        information.push_back(1 + eps * sign);
      }
      ends = std::max(
          {ends, std::abs(place_of(0, information)), std::abs(place_of(1, information) - 1)});
      for (std::size_t k = 1; k + 1 < even.size(); ++k) {
        double const a = even[k], off = std::abs(place_of(a, information) - a);
        worst = std::max(worst, off / (2 * eps / (1 - eps) * a));
        sharper =
            std::max(sharper, off * (1 - eps * std::abs(2 * a - 1)) / (2 * eps * a * (1 - a)));
      }
    }
  char remark[200];
  std::snprintf(
      remark, sizeof remark,
      "3000 spreads of information over 20 octaves, 16 channels; over 2 eps a (1-a) / (1 - "
      "eps |2a-1|), which is 0 at the ends too, %.2f",
      sharper);
  return {worst, worst <= 1 && ends < 1e-12, false, remark};
}

// Theorem B.1, parts 2 and 3.
finding energy() {
  constexpr double t = 100000;
  double const printed = t / 2 * (1 - std::exp(-2.0)), exact = state_energy(1, 1, 100000);
  return {printed / exact, std::abs(printed / exact - 1) < 0.05,
          std::abs(exact / (t / 3) - 1) < 1e-3,
          "alpha 1, rate 1, t 1e5: the sum itself is t/(2r+1)"};
}
finding energy_of_the_fastest() {
  double const found = state_energy(1, 0, 400000) / state_energy(1, 0, 100000);
  return {found, std::abs(found - 1) < 1e-9, false, "alpha 0, rate 1, t 4e5 over 1e5"};
}
finding energy_of_the_slowest() {
  double const found = state_energy(1, 1, 400000) / state_energy(1, 1, 100000);
  return {found, std::abs(found / 4 - 1) < 1e-3, false, "alpha 1, rate 1, t 4e5 over 1e5"};
}
finding energy_ratio() {
  double const found = state_energy(1, 0.5, 400000) / state_energy(1, 0.5, 100000);
  return {found, std::abs(found / 2 - 1) < 0.02, false, "alpha 0.5, t 4e5 over 1e5: 4^0.5"};
}
// Theorem B.1, part 3: t2 = 4 t1, t1 = 1000; and within 1/tau of the lower bound, tau at t1.
finding energy_bounds() {
  double least = HUGE_VAL;
  bool within = true;
  for (double alpha : {0.25, 0.5, 0.75})
    for (double rate : {0.1, 1.0, 3.0}) {
      double const ratio = state_energy(rate, alpha, 4000) / state_energy(rate, alpha, 1000);
      double const above = ratio / std::pow(4, alpha), tau = std::pow(1000, alpha) / rate;
      least = std::min(least, above);
      within = within && above > 1 - 1 / tau && ratio < 4;
    }
  return {least, least >= 1, within,
          "energies step by step, least of 9 cases, t 4000 over 1000, rates 0.1 to 3; at least 1 - "
          "1/tau, and below t2/t1"};
}
finding energy_distortion() {
  double const slow = state_energy(1, 1, 400000) / state_energy(1, 1, 100000);
  double const fast = state_energy(1, 0, 400000) / state_energy(1, 0, 100000);
  return {slow / fast, std::abs(slow / fast / 4 - 1) < 0.01, false,
          "slowest over fastest channel, t 4e5 over 1e5"};
}

}  // namespace

std::vector<claim> post_position_claims() {
  return {
      {"post-4.9", "PoST, Proposition 4.9", "channels of use over N log t/log T", 1, effective},
      {"post-4.9-waste", "PoST, Proposition 4.9", "a slow channel varies by at most",
       -std::expm1(-1), waste},
      {"post-4.9-half", "PoST, Proposition 4.9", "channels made for t worth 32 made for t^2", 16,
       halved_exponent},
      {"post-4.9-bound", "PoST, Proposition 4.9", "exponent at t over the one at T, at least", 1,
       degraded_bound},
      {"post-4.12", "PoST, Definition 4.12", "slowest timescale over t", 1, taper_reference},
      {"post-4.13", "PoST, Corollary 4.13", "response of the slowest channel at lag t/2",
       std::exp(-0.5), impulse_response},
      {"post-4.13-scale", "PoST, Corollary 4.13", "the same at any scale: ratio", 1, scale_free},
      {"post-4.13-fastest", "PoST, Corollary 4.13", "fastest channel, the same at any t: ratio", 1,
       fastest_channel},
      {"post-4.14", "PoST, Remark 4.14", "product of gates over the frozen one, s/t to 0", 1,
       product_of_gates},
      {"post-4.14-log", "PoST, Remark 4.14", "log decay over the frozen one, 1 + O(alpha s/t)", 1,
       impulse_response_between},
      {"post-4.15", "PoST, Corollary 4.15",
       "distance from the linear taper over its bound, at most", 1, equipartition},
      {"post-B.1", "PoST, Theorem B.1", "energy formula over the energy", 1, energy},
      {"post-B.1-fastest", "PoST, Theorem B.1", "energy at 4t over energy at t, alpha 0", 1,
       energy_of_the_fastest},
      {"post-B.1-slowest", "PoST, Theorem B.1", "energy at 4t over energy at t, alpha 1", 4,
       energy_of_the_slowest},
      {"post-B.1-ratio", "PoST, Theorem B.1", "energy at 4t over energy at t, 4^alpha", 2,
       energy_ratio},
      {"post-B.1-bounds", "PoST, Theorem B.1", "ratio of energies over (t2/t1)^alpha, above", 1,
       energy_bounds},
      {"post-B.2", "PoST, Proposition B.2", "distortion between extreme channels, t2/t1", 4,
       energy_distortion}};
}

}  // namespace wane::bench
