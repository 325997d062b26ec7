// The claims of PoST (arXiv 2604.07658) about fixed spectra: Table 1 and section 4 up to 4.7.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <random>
#include <vector>

#include "claims/claim.hpp"
#include "wane/spectra/algebra/softplus.hpp"
#include "wane/spectra/fit/fit.hpp"
#include "wane/spectra/rates/analysis.hpp"
#include "wane/spectra/rates/best_linear_spacing.hpp"
#include "wane/spectra/rates/best_range.hpp"
#include "wane/spectra/rates/geometric.hpp"
#include "wane/spectra/rates/linear.hpp"
#include "wane/spectra/rates/random.hpp"

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
  double sum = 0;
  for (int i = 0; i < draws; ++i) {
    std::vector<double> rates(channels);
    for (double& rate : rates) rate = unit_uniform(bits);
    std::sort(rates.begin(), rates.end());
    double least = 1;
    for (std::size_t k = 1; k < rates.size(); ++k) least = std::min(least, rates[k] - rates[k - 1]);
    sum += least;
  }
  double const found = sum / draws * (channels - 1) * (channels + 1);
  return {found, found <= 1.1 && found > 0.9, false,
          "mean smallest gap of 2000 draws of 64 rates, times (N-1)(N+1); its own error is 2 %"};
}
// The mean of a quantity of so many sorted rates, uniform on [1e-6, 1].
template <class Function>
double mean_of_draws(std::int64_t channels, Function const& quantity) {
  constexpr std::uint64_t draws = 200;
  double sum = 0;
  for (std::uint64_t seed = 0; seed < draws; ++seed)
    sum += quantity(random_uniform(channels, 1000000, seed));
  return sum / static_cast<double>(draws);
}
finding coherence_of_random_rates() {
  auto const rest = [](std::vector<double> const& rates) { return 1 - largest_coherence(rates); };
  double const found = 1 - mean_of_draws(2048, rest);
  return {
      found, std::abs(found - 1) < 1e-3 && 1 - found < mean_of_draws(128, rest) / 16, false,
      "mean of 200 draws of 2048 uniform rates; less than a sixteenth of 128 rates' is missing"};
}
finding largest_gap() {
  auto const gap = [](std::vector<double> const& rates) {
    double most = 0;
    for (std::size_t k = 1; k < rates.size(); ++k) most = std::max(most, rates[k] - rates[k - 1]);
    return most;
  };
  auto const scaled = [&](std::int64_t count) {
    double const n = static_cast<double>(count);
    return mean_of_draws(count, gap) * n / std::log(n);
  };
  double const found = scaled(2048) / scaled(128);
  return {found, found > 0.8, false,
          "mean largest gap of 200 draws of 2048 uniform rates over that "
          "of 128, each times N/log N"};
}

// Lemma 4.2: the error of random rates stays above the geometric one of the same range.
finding random_penalty() {
  double const even = error_of(geometric(32, wide_range(1000)), 1000);
  std::vector<double> errors;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    std::mt19937_64 bits(seed);
    std::vector<double> rates;
    range const wide = wide_range(1000);
    for (int k = 0; k < 32; ++k)
      rates.push_back(wide.low * std::pow(wide.high / wide.low, unit_uniform(bits)));
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
// Lemma 4.3 with the spacing free: N^{1/2} times the error, N far below sqrt(T).
finding linear_best_spacing() {
  constexpr std::int64_t horizon = 100000;
  auto const scaled = [](std::int64_t count) {
    double const spacing = best_linear_spacing(count, horizon, 0.5);
    return std::sqrt(static_cast<double>(count)) * error_of(linear(count, spacing), horizon);
  };
  double const found = scaled(48) / scaled(16);
  return {found, found > 0.9, false, "48 rates over 16, T 1e5, beta 0.5, the best spacing of each"};
}

// Table 1, the geometric spectrum: its error and its gaps.
finding table_1_geometric() {
  double const few = error_of(geometric(16, unit_range(1000)), 1000);
  double const many = error_of(geometric(32, unit_range(1000)), 1000);
  double const found = few / many;
  return {found, found > 2, false, "error of 16 rates in [1/T, 1] over that of 32, T 1000"};
}
finding geometric_gaps() {
  auto const smallest = [](std::int64_t count) {
    auto const rates = geometric(count, unit_range(1000));
    double least = HUGE_VAL;
    for (std::size_t k = 1; k < rates.size(); ++k)
      least = std::min(least, std::log(rates[k] / rates[k - 1]));
    return least * static_cast<double>(count);
  };
  double const found = smallest(256) / smallest(64);
  return {found, std::abs(found - 1) < 0.02, false,
          "N times the smallest gap of log rates, 256 rates over 64, T 1000"};
}

// -log error per channel from one number of channels to another.
template <class Range>
double rate_per_channel(std::int64_t few, std::int64_t many, std::int64_t horizon,
                        Range const& range_of) {
  double const gain = error_of(geometric(few, range_of(few)), horizon) /
                      error_of(geometric(many, range_of(many)), horizon);
  return std::log(gain) / static_cast<double>(many - few);
}
range searched_range(std::int64_t count) { return best_range(count, 1000, 0.5); }

// Table 1, Theorem 4.7: exp(-pi^2 N / (log T + C)), so that a channel gains as much as those
// before.
struct gains {
  double early, late;  // per channel: 4 to 8, 8 to 16
};
gains const& gains_of_free_range() {
  static gains const found{rate_per_channel(4, 8, 1000, searched_range),
                           rate_per_channel(8, 16, 1000, searched_range)};
  return found;
}
finding geometric_rate() {
  auto const [early, late] = gains_of_free_range();
  double const constant = std::numbers::pi * std::numbers::pi / late - std::log(1000.0);
  char remark[160];
  std::snprintf(remark, sizeof remark,
                "log error per channel, 8 to 16 over 4 to 8, T 1000, the best range of each; C is "
                "%.1f",
                constant);
  return {late / early, late / early > 0.9 && constant > 0, false, remark};
}
finding geometric_rate_between_anchors() {
  auto const anchored = [](std::int64_t) { return unit_range(1000); };
  double const found =
      rate_per_channel(32, 64, 1000, anchored) / rate_per_channel(16, 32, 1000, anchored);
  return {
      found, found > 0.9, geometric_rate().holds,
      "log error per channel, 32 to 64 over 16 to 32, rates in [1/T, 1], T 1000; the gain stays "
      "where the range is free (post-4.7)"};
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
// Remark 4.6: what 1 - zeta^2/(8 theta^2) leaves, of order theta^-4, falls to a sixteenth when
// theta doubles.
finding coherence_of_fast_anchors() {
  double const gap = softplus(0);
  auto const left = [&](double theta, bool third) {
    double const x = gap / theta;
    return spectral_coherence(theta, theta + gap) - 1 + x * x / 8 - (third ? x * x * x / 8 : 0);
  };
  double const found = left(20, false) / left(40, false);
  return {found, std::abs(found / 16 - 1) < 0.1,
          std::abs(left(20, true) / left(40, true) / 16 - 1) < 0.1,
          "theta 20 over 40, c 0: the next term is zeta^3/(8 theta^3); with it 16"};
}

// Definition 4.10: the anchors 1 and T.
finding anchors() {
  double const wider = error_of(geometric(32, 0.4e-5, 6), 100000);
  double const found = error_of(geometric(32, unit_range(100000)), 100000) / wider;
  double const searched = error_of(geometric(32, best_range(32, 100000, 0.5)), 100000) / wider;
  return {found, found < 1.5, searched < 1.05,
          "N 32, T 1e5: error in [1/T, 1] over that in [0.4/T, 6]; best_range finds one as good"};
}

}  // namespace

std::vector<claim> post_rate_claims() {
  return {
      {"post-4.1", "PoST, Lemma 4.1", "expected smallest gap over its bound, at most", 1,
       smallest_gap},
      {"post-4.1-coherence", "PoST, Lemma 4.1", "largest coherence of random rates, N to infinity",
       1, coherence_of_random_rates},
      {"post-4.2-gap", "PoST, Lemma 4.2", "largest gap times N/log N: no fall, about", 1,
       largest_gap},
      {"post-4.2", "PoST, Lemma 4.2", "error of random rates over geometric ones, above", 1,
       random_penalty},
      {"post-4.3", "PoST, Lemma 4.3", "gain of more linear rates: none, about", 1, linear_limit},
      {"post-4.3-spacing", "PoST, Lemma 4.3", "N^beta times the error: no fall, about", 1,
       linear_best_spacing},
      {"post-table1", "PoST, Table 1", "gain of twice as many geometric rates, above", 1,
       table_1_geometric},
      {"post-table1-gap", "PoST, Table 1", "smallest gap of geometric rates times N: constant", 1,
       geometric_gaps},
      {"post-table1-rate", "PoST, Table 1",
       "gain by a channel of [1/T, 1] over that by the ones before", 1,
       geometric_rate_between_anchors},
      {"post-4.7", "PoST, Theorem 4.7", "gain by a channel over that by the ones before", 1,
       geometric_rate},
      {"post-4.5", "PoST, Proposition 4.5", "largest coherence over its bound, at most", 1,
       coherence_bound},
      {"post-4.6", "PoST, Remark 4.6", "fall of the rest when theta doubles, O(theta^-4)", 16,
       coherence_of_fast_anchors},
      {"post-4.10", "PoST, Definition 4.10", "error of [1/T, 1] over the best range, optimal: 1", 1,
       anchors}};
}

}  // namespace wane::bench
