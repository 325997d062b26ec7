// The claims of VORT (arXiv 2605.08966) about its kernel: sections 2 and 4, Figure 4a.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "claims/claim.hpp"
#include "claims/integral.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"
#include "wane/spectra/orders/kernel_bounds.hpp"
#include "wane/spectra/rates/random.hpp"

namespace wane::bench {
namespace {

using spectra::gruenwald_letnikov;

finding asymptote() {
  double const found = gruenwald_letnikov(0.3)(1000000000) * std::tgamma(0.3) * std::pow(1e9, 0.7);
  return {found, std::abs(found - 1) < 1e-8, false, "alpha 0.3, lag 1e9"};
}

// Figure 4a: the worst of its four orders.
finding slope_of_the_kernel() {
  double worst = 1;
  for (double alpha : {0.3, 0.5, 0.7, 0.9}) {
    gruenwald_letnikov const w(alpha);
    double const slope = std::log(w(100000) / w(10)) / std::log(1e4) / (alpha - 1);
    if (std::abs(slope - 1) > std::abs(worst - 1)) worst = slope;
  }
  return {worst, std::abs(worst - 1) < 0.01, false,
          "lags 10 to 1e5, alpha 0.3, 0.5, 0.7, 0.9: the one that is furthest off"};
}

// Section 2, long memory: x = Sum_l w_l(d) e_{t-l} takes its innovations e with the kernel, and
// (1-B)^d x = e gives the predictor of x_t the weights -a_l on x_{t-l}, (1-z)^d = Sum a_l z^l.
finding predictor() {
  constexpr double d = 0.3;
  constexpr std::size_t lags = 200000, checked = 500;
  std::vector<double> a{1};
  for (std::size_t l = 1; l <= lags; ++l) {
    auto const lag = static_cast<double>(l);
    a.push_back(a.back() * (lag - 1 - d) / lag);
  }
  double const slope = std::log(a[lags] / a[lags / 2]) / std::log(2.0);
  gruenwald_letnikov const w(d);
  double left = 0;  // weight of past innovations that the predictor leaves
  for (std::size_t l = 1; l <= checked; ++l) {
    double sum = 0;
    for (std::size_t i = 0; i <= l; ++i) sum += a[i] * w(static_cast<std::int64_t>(l - i));
    left = std::max(left, std::abs(sum));
  }
  double const asymptote = -a[lags] * std::pow(double(lags), 1 + d) * std::tgamma(1 - d) / d;
  return {slope, std::abs(slope - (d - 1)) < 0.01, left < 1e-12 && std::abs(asymptote - 1) < 1e-4,
          "d 0.3: the weights are d l^{-1-d} / Gamma(1-d), which have a sum; the innovations have "
          "l^{d-1} / Gamma(d)"};
}

// Equation (5): the printed density has e^{-rate} once more.
finding density() {
  gruenwald_letnikov const w(0.5);
  double const printed = integral_in_log(
      [&](double rate) { return w.density(rate) * std::exp(-rate) * std::exp(-rate); }, -80, 6);
  double const right =
      integral_in_log([&](double rate) { return w.density(rate) * std::exp(-rate); }, -80, 6);
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
finding density_of_slow_rates() {
  double const found =
      gruenwald_letnikov(0.5).density(1e-8) * std::sqrt(1e-8) * std::tgamma(0.5) * std::tgamma(0.5);
  return {found, std::abs(found - 1) < 1e-6, false, "alpha 0.5, rate 1e-8"};
}
finding density_of_fast_rates() {
  gruenwald_letnikov const w(0.5);
  auto const growth = [&](double power) {
    return w.density(40) / w.density(10) * std::exp(power * 30);
  };
  return {
      growth(1), growth(1) <= 1, std::abs(growth(0.5) - 1) < 1e-3,
      "alpha 0.5, rate 40 over rate 10; the density falls like e^{-alpha rate}, the printed one "
      "by e^-rate faster"};
}

// Theorem 4.1 on random cases: the largest quotient of both sides.
finding quantisation() {
  std::mt19937_64 bits(1);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    double const delta = 0.01 + 0.5 * spectra::unit_uniform(bits),
                 alpha = delta + (1 - delta) * spectra::unit_uniform(bits);
    double const beta = alpha + (1 - alpha) * spectra::unit_uniform(bits),
                 t = std::pow(1e6, spectra::unit_uniform(bits));
    if (beta - alpha < 1e-6) continue;
    auto const kernel = [&](double g) { return std::pow(t, g - 1) / std::tgamma(g); };
    worst = std::max(worst, std::abs(kernel(beta) - kernel(alpha)) /
                                spectra::quantisation_bound(alpha, beta, t, delta));
  }
  return {worst, worst <= 1, false, "largest quotient of both sides in 20000 random cases"};
}
double power_kernel(double order, double t) { return std::pow(t, order - 1) / std::tgamma(order); }

// The largest error at t for any order in [least, 1] that is rounded to the nearest of the banks.
double error_of_banks(int banks, double least, double t) {
  constexpr int orders = 2000;
  double worst = 0;
  for (int i = 0; i <= orders; ++i) {
    double const part = double(i) / orders;
    double const nearest = std::max(1.0, std::round(part * banks)) / banks;
    auto const order = [&](double p) { return least + (1 - least) * p; };
    worst =
        std::max(worst, std::abs(power_kernel(order(part), t) - power_kernel(order(nearest), t)));
  }
  return worst;
}
// Theorem 4.1's conclusion, O((log t)/K), which is 0 at t = 1; and O((1 + log t)/K).
finding quantisation_of_banks() {
  double largest = 0;
  for (int banks : {5, 10, 20, 40, 80})
    for (double t = 1; t < 2e6; t *= 10)
      largest = std::max(largest, error_of_banks(banks, 0.1, t) * banks / (1 + std::log(t)));
  double const found = error_of_banks(10, 0.1, 1);
  char remark[160];
  std::snprintf(remark, sizeof remark,
                "10 banks, delta 0.1; up to t 1e6 and 80 banks it is below %.2f (1 + log t)/K",
                largest);
  return {found, found <= 0, largest < 1.2, remark};
}
finding order_near_zero() {
  constexpr double alpha = 1e-6, t = 10;
  double const found = power_kernel(alpha, t) * t / alpha;
  return {found, std::abs(found - 1) < 1e-5, false, "alpha 1e-6, t 10"};
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
finding low_frequencies() {
  constexpr double omega = 1e-6;
  double const found =
      std::abs(gruenwald_letnikov(0.5).frequency_response(omega)) * std::sqrt(omega);
  return {found, std::abs(found - 1) < 1e-9, false, "alpha 0.5, 1e-6 radians a step"};
}

}  // namespace

std::vector<claim> vort_kernel_claims() {
  return {{"vort-eq3", "VORT, equation (3)", "w_l over l^{alpha-1}/Gamma(alpha), l to infinity", 1,
           asymptote},
          {"vort-fig4a", "VORT, Figure 4a", "slope of log w in log l over alpha-1", 1,
           slope_of_the_kernel},
          {"vort-arfima", "VORT, section 2", "exponent of the best predictor's weights, d-1", -0.7,
           predictor},
          {"vort-eq5", "VORT, equation (5)", "the Laplace integral of the density, over w_1", 1,
           density},
          {"vort-beta", "VORT, below (5)", "B(j,1-alpha) / B(alpha,1-alpha) over w_j, j = 5", 1,
           beta_identity},
          {"vort-density-slow", "VORT, below (5)",
           "density over rate^-alpha/(Gamma(alpha)Gamma(1-alpha)), rate to 0", 1,
           density_of_slow_rates},
          {"vort-density-fast", "VORT, below (5)", "growth of density e^rate, which is bounded", 1,
           density_of_fast_rates},
          {"vort-4.1", "VORT, Theorem 4.1", "error of a rounded order over its bound, at most", 1,
           quantisation},
          {"vort-4.1-banks", "VORT, Theorem 4.1", "error of banks at t = 1, O((log t)/K), at most",
           0, quantisation_of_banks},
          {"vort-4.1-zero", "VORT, Theorem 4.1", "k_alpha(t) over alpha/t, alpha to 0", 1,
           order_near_zero},
          {"vort-4.4", "VORT, Proposition 4.4", "growth of a state over t^alpha/Gamma(1+alpha)", 1,
           growth},
          {"vort-4.4-step", "VORT, proof of 4.4",
           "Gamma(t+alpha)/(Gamma(alpha)Gamma(t+1)) over the sum", 1, growth_on_the_way},
          {"vort-4.5", "VORT, Lemma 4.5", "z-transform over (1-z)^-alpha", 1, frequency_response},
          {"vort-4.5-low", "VORT, Lemma 4.5", "size of the response over omega^-alpha", 1,
           low_frequencies}};
}

}  // namespace wane::bench
