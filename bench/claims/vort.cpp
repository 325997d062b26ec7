// The claims of VORT (arXiv 2605.08966) about its kernel and its sums of exponentials.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "claims/claim.hpp"
#include "wane/spectra/gruenwald_letnikov.hpp"
#include "wane/spectra/kernel_bounds.hpp"
#include "wane/spectra/quadrature_sums.hpp"

namespace wane::bench {
namespace {

using spectra::gruenwald_letnikov;

// Int over log rates from `low` to `high` of rate f(rate): the trapezoidal rule.
template <class Function>
double over_log_rates(Function const& f, double low, double high, int points = 20000) {
  double const step = (high - low) / points;
  double sum = 0;
  for (int i = 0; i <= points; ++i) {
    double const rate = std::exp(low + i * step);
    sum += (i == 0 || i == points ? 0.5 : 1) * rate * f(rate);
  }
  return sum * step;
}

// Equation (5): the printed density has e^{-rate} once more.
finding density() {
  gruenwald_letnikov const w(0.5);
  double const printed = over_log_rates(
      [&](double rate) { return w.density(rate) * std::exp(-rate) * std::exp(-rate); }, -80, 6);
  double const right =
      over_log_rates([&](double rate) { return w.density(rate) * std::exp(-rate); }, -80, 6);
  return {printed / w(1), std::abs(printed / w(1) - 1) < 1e-9, std::abs(right / w(1) - 1) < 1e-9,
          "the printed density gives w_{l+1}; without its last factor it gives w_l"};
}

finding beta_identity() {
  gruenwald_letnikov const w(0.5);
  double const printed = boost::math::beta(5.0, 0.5) / boost::math::beta(0.5, 0.5);
  double const right = boost::math::beta(5.5, 0.5) / boost::math::beta(0.5, 0.5);
  return {printed / w(5), std::abs(printed / w(5) - 1) < 1e-9, std::abs(right / w(5) - 1) < 1e-12,
          "B(j+alpha, 1-alpha) / B(alpha, 1-alpha) is w_j"};
}

// Theorem 3.1: the mass below the lower limit, over the eps/4 that it is said to stay under.
finding lower_tail() {
  gruenwald_letnikov const w(0.9);
  double const eps = 1e-6, low = spectra::vort_range(1000000, eps).low;
  auto const mass = [&](double limit) {
    return over_log_rates([&](double rate) { return w.density(rate); }, -700, std::log(limit));
  };
  double const pi = std::acos(-1.0);
  double const right = std::pow(eps * pi * 0.1 / (4 * std::sin(0.9 * pi)), 10);
  double const found = mass(low) / (eps / 4);
  return {
      found, found <= 1, std::abs(mass(right) / (eps / 4) - 1) < 1e-2,
      "alpha 0.9, T 1e6, eps 1e-6; the limit (eps pi (1-alpha) / (4 sin pi alpha))^(1/(1-alpha)) "
      "has it"};
}

finding upper_tail() {
  gruenwald_letnikov const w(0.1);
  double const eps = 1e-6, high = spectra::vort_range(1000000, eps).high;
  double const found =
      over_log_rates([&](double rate) { return w.density(rate); }, std::log(high), 10) / (eps / 4);
  double const pi = std::acos(-1.0);
  double const right = std::log(4 * std::sin(0.1 * pi) / (pi * 0.1 * eps)) / 0.1;
  double const there =
      over_log_rates([&](double rate) { return w.density(rate); }, std::log(right), 10) / (eps / 4);
  return {
      found, found <= 1, there <= 1.01,
      "alpha 0.1, T 1e6, eps 1e-6, lag 0; log(4 sin(pi alpha) / (pi alpha eps)) / alpha has it"};
}

// Figure 4b, with the density that is right: the least over limits for three accuracies.
double error_of_gauss_legendre(double alpha, std::int64_t horizon, std::int64_t terms,
                               bool relative) {
  gruenwald_letnikov const w(alpha);
  double best = HUGE_VAL;
  for (double eps : {1e-2, 1e-3, 1e-4}) {
    auto const sum = spectra::gauss_legendre_sum(w, terms, spectra::vort_range(horizon, eps));
    double worst = 0;
    for (std::int64_t lag = 1; lag <= horizon; ++lag)
      worst = std::max(worst, std::abs(sum(lag) - w(lag)) / (relative ? w(lag) : 1));
    best = std::min(best, worst);
  }
  return best;
}
finding figure_4b() {
  double const found = error_of_gauss_legendre(0.5, 1000, 15, false);
  char remark[120];
  std::snprintf(remark, sizeof remark,
                "best of three limits, absolute; relative to w_l the best is %.1e",
                error_of_gauss_legendre(0.5, 1000, 15, true));
  return {found, found < 4e-3, false, remark};
}
finding length_of_interval() {
  double shortest = HUGE_VAL;
  for (double eps : {1e-2, 1e-3, 1e-4}) {
    auto const limits = spectra::vort_range(1000, eps);
    shortest = std::min(shortest, std::log(limits.high / limits.low));
  }
  return {shortest, shortest < 7, false, "for eps = 1e-2, longer for less; 6.9 is log 1000"};
}

// Theorem 4.1 on random cases: the largest quotient of both sides.
finding quantisation() {
  std::mt19937_64 bits(1);
  std::uniform_real_distribution<double> part(0, 1);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    double const delta = 0.01 + 0.5 * part(bits), alpha = delta + (1 - delta) * part(bits);
    double const beta = alpha + (1 - alpha) * part(bits), t = std::pow(1e6, part(bits));
    if (beta - alpha < 1e-6) continue;
    auto const kernel = [&](double g) { return std::pow(t, g - 1) / std::tgamma(g); };
    worst = std::max(worst, std::abs(kernel(beta) - kernel(alpha)) /
                                spectra::quantisation_bound(alpha, beta, t, delta));
  }
  return {worst, worst <= 1, false, "largest quotient of both sides in 20000 random cases"};
}
// Proposition 4.2 on random mixtures: as printed, and what the proof gives.
finding lower_bound() {
  std::mt19937_64 bits(1);
  std::uniform_real_distribution<double> part(0, 1);
  double worst = 0, sharper = 0, nearest = 0;
  for (int i = 0; i < 300; ++i) {
    double const alpha = 0.1 + 0.8 * part(bits), horizon = std::pow(10, 2 + 4 * part(bits));
    std::vector<double> rates, weights;
    for (int m = 0; m < 4; ++m) {
      rates.push_back(std::pow(10, -2 + 3 * part(bits)));
      weights.push_back(0.3 * part(bits));
    }
    double energy = 0, total = 0;
    for (std::size_t m = 0; m < 4; ++m) {
      total += weights[m];
      for (std::size_t n = 0; n < 4; ++n) energy += weights[m] * weights[n] / (rates[m] + rates[n]);
    }
    double const slowest = *std::min_element(rates.begin(), rates.end());
    double const overlap = 2 * total * std::tgamma(alpha) * std::pow(slowest, -alpha);
    double const norm = std::expm1((2 * alpha - 1) * std::log(horizon)) / (2 * alpha - 1);
    double const printed = norm - overlap - total * total * energy;
    double const apart = over_log_rates(
        [&](double t) {
          double f = -std::pow(t, alpha - 1);
          for (std::size_t m = 0; m < 4; ++m) f += weights[m] * std::exp(-rates[m] * t);
          return f * f;
        },
        0, std::log(horizon), 1000);
    double const ours = spectra::mixture_lower_bound(alpha, horizon, rates, weights);
    worst = std::max(worst, printed / apart);
    sharper = std::max(sharper, ours / apart);
    if (printed > 0) nearest = std::max(nearest, ours / printed);
  }
  char remark[160];
  std::snprintf(remark, sizeof remark,
                "largest bound over distance of 300 mixtures; without its last term, and rate by "
                "rate, %.2f, and up to %.1f times higher",
                sharper, nearest);
  return {worst, worst <= 1 && sharper <= 1, false, remark};
}

finding growth() {
  double const t = 1e9;
  double const found =
      gruenwald_letnikov(0.3).sum(1000000000) * std::tgamma(1.3) / std::pow(t, 0.3);
  return {found, std::abs(found - 1) < 1e-6, false,
          "sum of w over t^alpha / Gamma(1+alpha), t 1e9"};
}
finding growth_on_the_way() {
  gruenwald_letnikov const w(0.3);
  double sum = 0;
  for (std::int64_t lag = 0; lag < 1000; ++lag) sum += w(lag);
  double const printed = std::tgamma(100.3) / (std::tgamma(0.3) * std::tgamma(101));
  double sum_to_hundred = 0;
  for (std::int64_t lag = 0; lag < 100; ++lag) sum_to_hundred += w(lag);
  return {printed / sum_to_hundred, std::abs(printed / sum_to_hundred - 1) < 1e-9,
          std::abs(w.sum(1000) / sum - 1) < 1e-12,
          "t 100; Gamma(t+alpha) / (Gamma(1+alpha) Gamma(t)) is the sum"};
}

finding frequency_response() {
  gruenwald_letnikov const w(0.5);
  double const damping = 1e-3, omega = 0.1;
  std::complex<double> sum = 0;
  for (std::int64_t lag = 0; lag < 40000; ++lag)
    sum += w(lag) * std::exp(std::complex<double>(-damping, -omega) * static_cast<double>(lag));
  std::complex<double> const there =
      std::pow(1.0 - std::exp(std::complex<double>(-damping, -omega)), -0.5);
  double const size = std::abs(w.frequency_response(omega)) * std::sqrt(2 * std::sin(omega / 2));
  return {std::abs(sum / there), std::abs(sum / there - 1.0) < 1e-9 && std::abs(size - 1) < 1e-12,
          false, "sum of w_l z^l over (1-z)^-alpha at |z| = e^-0.001, 0.1 radians a step"};
}

}  // namespace

std::vector<claim> vort_claims() {
  return {{"vort-eq5", "VORT, equation (5)", "the Laplace integral of the density, over w_1", 1,
           density},
          {"vort-beta", "VORT, below (5)", "B(j,1-alpha) / B(alpha,1-alpha) over w_j, j = 5", 1,
           beta_identity},
          {"vort-3.1-lower", "VORT, Theorem 3.1", "lower tail over eps/4, at most", 1, lower_tail},
          {"vort-3.1-upper", "VORT, Theorem 3.1", "upper tail over eps/4, at most", 1, upper_tail},
          {"vort-fig4b", "VORT, Figure 4b", "absolute error of 15 terms, T 1000, below", 4e-3,
           figure_4b},
          {"vort-fig4b-length", "VORT, Figure 4", "length L of the interval of log rates", 6.9,
           length_of_interval},
          {"vort-4.1", "VORT, Theorem 4.1", "error of a rounded order over its bound, at most", 1,
           quantisation},
          {"vort-4.2", "VORT, Proposition 4.2", "lower bound over the error it bounds, at most", 1,
           lower_bound},
          {"vort-4.4", "VORT, Proposition 4.4", "growth of a state over t^alpha/Gamma(1+alpha)", 1,
           growth},
          {"vort-4.4-step", "VORT, proof of 4.4",
           "Gamma(t+alpha)/(Gamma(alpha)Gamma(t+1)) over the sum", 1, growth_on_the_way},
          {"vort-4.5", "VORT, Lemma 4.5", "z-transform over (1-z)^-alpha", 1, frequency_response}};
}

}  // namespace wane::bench
