// The claims of PoST (arXiv 2604.07658) about decay spectra.
// SPDX-License-Identifier: MIT
#include "wane/spectra/post.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "claims/claim.hpp"
#include "wane/spectra/analysis.hpp"
#include "wane/spectra/fit.hpp"
#include "wane/spectra/geometric.hpp"
#include "wane/spectra/harmonic.hpp"
#include "wane/spectra/linear.hpp"
#include "wane/spectra/post_initial.hpp"
#include "wane/spectra/post_map.hpp"
#include "wane/spectra/random.hpp"

namespace wane::bench {
namespace {

using namespace spectra;

double error_of(std::vector<double> const& rates, std::int64_t horizon) {
  return fit(rates, power_law(0.5), horizon).max_absolute_error;
}

// Lemma 4.1: 2000 draws of 64 rates, uniform on [0, 1]; the bound is 1/((N-1)(N+1)).
finding smallest_gap() {
  constexpr int channels = 64, draws = 2000;
  std::mt19937_64 bits(1);
  std::uniform_real_distribution<double> part(0, 1);
  double sum = 0;
  for (int i = 0; i < draws; ++i) {
    std::vector<double> rates(channels);
    for (double& rate : rates) rate = part(bits);
    std::sort(rates.begin(), rates.end());
    double least = 1;
    for (std::size_t k = 1; k < rates.size(); ++k) least = std::min(least, rates[k] - rates[k - 1]);
    sum += least;
  }
  double const found = sum / draws * (channels - 1) * (channels + 1);
  return {found, found <= 1.1 && found > 0.9, false,
          "mean smallest gap of 2000 draws of 64 rates, times (N-1)(N+1); its own error is 2 %"};
}

// Lemma 4.2: the error of random rates stays above the geometric one of the same range.
finding random_penalty() {
  double const even = error_of(geometric(32, wide_range(1000)), 1000);
  std::vector<double> errors;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    std::mt19937_64 bits(seed);
    std::uniform_real_distribution<double> part(0, 1);
    std::vector<double> rates;
    range const wide = wide_range(1000);
    for (int k = 0; k < 32; ++k)
      rates.push_back(wide.low * std::pow(wide.high / wide.low, part(bits)));
    errors.push_back(error_of(rates, 1000));
  }
  std::nth_element(errors.begin(), errors.begin() + 2, errors.end());
  double const found = errors[2] / even;
  return {found, found > 1, false, "N 32, T 1000, rates in [0.3/T, 4], median of 5 draws"};
}

// Lemma 4.3: r_k = k stops improving.
finding linear_limit() {
  double const found = error_of(linear(64), 10000) / error_of(linear(16), 10000);
  return {found, found > 0.5, false, "r = 1..N: error with 64 rates over that with 16, T 1e4"};
}

// Proposition 4.5 with p the rate, as Definition 2.3 has it; and with p its logarithm.
finding coherence_bound() {
  constexpr double theta = 1e-3;
  constexpr int channels = 4;
  std::vector<double> rates, even;
  for (int k = 0; k < channels; ++k) {
    rates.push_back(theta + k * softplus(0));
    even.push_back(std::exp(std::log(theta) + k * softplus(0)));
  }
  double const bound = 1 / std::cosh(std::log1p(softplus(0) / theta) / 2);
  double const found = largest_coherence(rates) / bound;
  double const right = largest_coherence(even) * std::cosh(softplus(0) / 2);
  char remark[160];
  std::snprintf(remark, sizeof remark,
                "bound %.3f, found %.3f (the last pair); in log rates sech(zeta(c)/2) is attained",
                bound, largest_coherence(rates));
  return {found, found <= 1, std::abs(right - 1) < 1e-12, remark};
}

// Proposition 4.9 at t = sqrt T.
finding effective() {
  auto const counted =
      static_cast<double>(channels_within(geometric(32, unit_range(1000000)), 1000));
  double const claimed = effective_channels(32, 1000, 1000000);
  return {counted / claimed, std::abs(counted - claimed) <= 1, false,
          "N 32, T 1e6, t 1000: channels with a timescale in [1, t]; exactly floor((N-1) log t/log "
          "T) + 1"};
}

// Definition 4.10: the anchors 1 and T.
finding anchors() {
  double const wider = error_of(geometric(32, 0.4e-5, 6), 100000);
  double const found = error_of(geometric(32, unit_range(100000)), 100000) / wider;
  double const searched = error_of(geometric(32, best_range(32, 100000, 0.5)), 100000) / wider;
  return {found, found < 1.5, searched < 1.05,
          "N 32, T 1e5: error in [1/T, 1] over that in [0.4/T, 6]; best_range finds one as good"};
}

// Table 1, first and third column, by the errors that N = 32 reaches for T = 1e5.
finding table_1_geometric() {
  double const eight = error_of(geometric(16, unit_range(1000)), 1000);
  double const sixteen = error_of(geometric(32, unit_range(1000)), 1000);
  double const found = eight / sixteen;
  return {found, found > 2, false, "error of 16 rates in [1/T, 1] over that of 32, T 1000"};
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

// Equation (12): RWKV-7's slowest timescale at the trained length.
finding rwkv7_slowest() {
  auto const logits = rwkv7_logits(64, 2048);
  double const rate = rwkv7_fastest_rate * logistic(rwkv7_tapered_logit(logits[0], 1, 2048));
  double const found = 1 / rate / 2048;
  return {found, std::abs(found - 1) < 0.01, false,
          "slowest timescale over T at t = T = 2048: it is T squared, not T"};
}

// Corollary 4.13: half of the way back, taper 1, rate 1.
finding impulse_response() {
  double const found = std::exp(-harmonic_sum(1, 50000, 100000));
  return {found, std::abs(found - std::exp(-0.5)) < 1e-3, std::abs(found - 0.5) < 1e-4,
          "lag t/2 at t 1e5: (1 - 1/2)^1, a power law, not e^-1/2"};
}
finding impulse_response_between() {
  double const t = 100000;
  double const exact = harmonic_sum(0.5, 50000, 100000), frozen = 50000 * std::pow(t, -0.5);
  return {
      exact / frozen, std::abs(exact / frozen - 1) < 0.25, false,
      "log decay over the frozen one, taper 0.5, lag t/2: 1 + alpha f/2 + ..., in the logarithm"};
}
finding scale_free() {
  double const early = std::exp(-harmonic_sum(1, 5000, 10000));
  double const late = std::exp(-harmonic_sum(1, 5000000, 10000000));
  return {late / early, std::abs(late / early - 1) < 1e-3, false,
          "response at lag t/2, t = 1e7 over t = 1e4, slowest channel"};
}

// Theorem B.1, parts 2 and 3.
finding energy() {
  constexpr double t = 100000;
  double const printed = t / 2 * (1 - std::exp(-2.0)), exact = state_energy(1, 1, 100000);
  return {printed / exact, std::abs(printed / exact - 1) < 0.05,
          std::abs(exact / (t / 3) - 1) < 1e-3,
          "alpha 1, rate 1, t 1e5: the sum itself is t/(2r+1)"};
}
finding energy_ratio() {
  double const found = state_energy(1, 0.5, 400000) / state_energy(1, 0.5, 100000);
  return {found, std::abs(found / 2 - 1) < 0.02, false, "alpha 0.5, t 4e5 over 1e5: 4^0.5"};
}
finding energy_distortion() {
  double const slow = state_energy(1, 1, 400000) / state_energy(1, 1, 100000);
  double const fast = state_energy(1, 0, 400000) / state_energy(1, 0, 100000);
  return {slow / fast, std::abs(slow / fast / 4 - 1) < 0.01, false,
          "slowest over fastest channel, t 4e5 over 1e5"};
}

// The initial values of section 5.
finding mamba2() {
  auto const p = mamba2_log_rates(4, 512);
  double const found = std::exp(p[2]);
  return {found, std::abs(found / 2.5 - 1) < 1e-12, false, "N 4, T 512: -A of the third head"};
}
finding rwkv7() {
  double const found = rwkv7_logits(64, 512)[0];
  return {found, std::abs(found + 5.735099) < 1e-6, false, "64 channels, T 512: the first logit"};
}
finding rwkv7_fastest() {
  double const found = 1 / (rwkv7_fastest_rate * logistic(0.5));
  return {found, std::abs(found - 2.649) < 1e-3, false, "timescale of the last channel, in tokens"};
}
// The additive taper of the logit, at t = T: gaps of the logarithm of the rates.
finding rwkv7_taper_is_even() {
  auto const logits = rwkv7_logits(64, 2048);
  auto const taper = rwkv7_taper(logits, 2048);
  auto const spread_of = [&](auto const& tapered) {
    double least = HUGE_VAL, most = 0;
    for (std::size_t k = 1; k < logits.size(); ++k) {
      double const gap = std::log(logistic(tapered(logits[k], taper[k], 2048)) /
                                  logistic(tapered(logits[k - 1], taper[k - 1], 2048)));
      least = std::min(least, gap), most = std::max(most, gap);
    }
    return most / least;
  };
  double const found = spread_of(rwkv7_tapered_logit);
  return {
      found, std::abs(found - 1) < 0.05,
      std::abs(spread_of(rwkv7_exactly_tapered_logit) - 1) < 1e-6,
      "largest over smallest gap of 64 log rates, t = T = 2048; logit(sigma(l) t^-alpha) is even"};
}

}  // namespace

std::vector<claim> post_claims() {
  return {
      {"post-4.1", "PoST, Lemma 4.1", "expected smallest gap over its bound, at most", 1,
       smallest_gap},
      {"post-4.2", "PoST, Lemma 4.2", "error of random rates over geometric ones, above", 1,
       random_penalty},
      {"post-4.3", "PoST, Lemma 4.3", "gain of more linear rates: none, about", 1, linear_limit},
      {"post-table1", "PoST, Table 1", "gain of twice as many geometric rates, above", 1,
       table_1_geometric},
      {"post-4.5", "PoST, Proposition 4.5", "largest coherence over its bound, at most", 1,
       coherence_bound},
      {"post-4.9", "PoST, Proposition 4.9", "channels of use over N log t/log T", 1, effective},
      {"post-4.10", "PoST, Definition 4.10", "error of [1/T, 1] over the best range, optimal: 1", 1,
       anchors},
      {"post-4.12", "PoST, Definition 4.12", "slowest timescale over t", 1, taper_reference},
      {"post-eq12", "PoST, equation (12)", "RWKV-7's slowest timescale at T over T", 1,
       rwkv7_slowest},
      {"post-4.13", "PoST, Corollary 4.13", "response of the slowest channel at lag t/2",
       std::exp(-0.5), impulse_response},
      {"post-4.13-scale", "PoST, Corollary 4.13", "the same at any scale: ratio", 1, scale_free},
      {"post-4.14", "PoST, Remark 4.14", "log decay over the frozen one, 1 + O(alpha s/t)", 1,
       impulse_response_between},
      {"post-B.1", "PoST, Theorem B.1", "energy formula over the energy", 1, energy},
      {"post-B.1-ratio", "PoST, Theorem B.1", "energy at 4t over energy at t, 4^alpha", 2,
       energy_ratio},
      {"post-B.2", "PoST, Proposition B.2", "distortion between extreme channels, t2/t1", 4,
       energy_distortion},
      {"post-mamba2", "PoST, section 5.2", "a rate of Mamba-2 at the start", 2.5, mamba2},
      {"post-rwkv7", "PoST, section 5.3", "a logit of RWKV-7 at the start", -5.735099, rwkv7},
      {"post-rwkv7-fastest", "PoST, section 5.3", "fastest timescale of RWKV-7", 2.649,
       rwkv7_fastest},
      {"post-5.1", "PoST, Corollary 5.1", "RWKV-7's spectrum stays even: gap ratio", 1,
       rwkv7_taper_is_even}};
}

}  // namespace wane::bench
