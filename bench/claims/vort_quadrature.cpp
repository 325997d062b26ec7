// The claims of VORT (arXiv 2605.08966) about its quadratures: Theorem 3.1, Figure 4b.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <vector>

#include "claims/claim.hpp"
#include "claims/integral.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"
#include "wane/spectra/orders/quadrature_sums.hpp"

namespace wane::bench {
namespace {

using namespace spectra;
using std::numbers::pi;

double length_of(range limits) { return std::log(limits.high / limits.low); }

// Limits whose tails are eps/4 each, on every lag from 0.
range covering_limits(double alpha, double eps) {
  double const part = eps * pi / (4 * std::sin(alpha * pi));
  return {std::pow(part * (1 - alpha), 1 / (1 - alpha)), -std::log(part * alpha) / alpha};
}

// Theorem 3.1: the mass below the lower limit, over the eps/4 that it is said to stay under.
finding lower_tail() {
  gruenwald_letnikov const w(0.9);
  double const eps = 1e-6, low = vort_range(1000000, eps).low;
  auto const mass = [&](double limit) {
    return integral_in_log([&](double rate) { return w.density(rate); }, -700, std::log(limit));
  };
  double const right = std::pow(eps * pi * 0.1 / (4 * std::sin(0.9 * pi)), 10);
  double const found = mass(low) / (eps / 4);
  return {
      found, found <= 1, std::abs(mass(right) / (eps / 4) - 1) < 1e-2,
      "alpha 0.9, T 1e6, eps 1e-6; the limit (eps pi (1-alpha) / (4 sin pi alpha))^(1/(1-alpha)) "
      "has it"};
}
finding upper_tail() {
  gruenwald_letnikov const w(0.1);
  double const eps = 1e-6, high = vort_range(1000000, eps).high;
  double const found =
      integral_in_log([&](double rate) { return w.density(rate); }, std::log(high), 10) / (eps / 4);
  double const right = std::log(4 * std::sin(0.1 * pi) / (pi * 0.1 * eps)) / 0.1;
  double const there =
      integral_in_log([&](double rate) { return w.density(rate); }, std::log(right), 10) /
      (eps / 4);
  return {
      found, found <= 1, there <= 1.01,
      "alpha 0.1, T 1e6, eps 1e-6, lag 0; log(4 sin(pi alpha) / (pi alpha eps)) / alpha has it"};
}
// Theorem 3.1 as a whole: many nodes, so that the limits alone count, on the lags 0..T.
finding error_of_many_nodes() {
  constexpr double alpha = 0.9, eps = 1e-3;
  constexpr std::int64_t horizon = 1000, terms = 400;
  gruenwald_letnikov const w(alpha);
  auto const worst = [&](range limits) {
    auto const sum = gauss_legendre_sum(w, terms, limits);
    double largest = 0;
    for (std::int64_t lag = 0; lag <= horizon; ++lag)
      largest = std::max(largest, std::abs(impulse_response(sum.rates, sum.weights, lag) - w(lag)));
    return largest / eps;
  };
  double const found = worst(vort_range(horizon, eps));
  return {found, found <= 1, worst(covering_limits(alpha, eps)) <= 1,
          "alpha 0.9, T 1000, eps 1e-3, 400 nodes, lags 0..T; on the limits that hold it is met"};
}

// The integrand in log rate, on the ray of rates of this angle: its largest size for lag 0.
double largest_on_ray(double alpha, range limits, double angle) {
  constexpr int points = 20000;
  double largest = 0;
  for (int i = 0; i <= points; ++i) {
    double const size = limits.low * std::exp(length_of(limits) * i / points);
    std::complex<double> const rate = std::polar(size, angle);
    double const g =
        std::sin(alpha * pi) / pi * size * std::pow(std::abs(std::exp(rate) - 1.0), -alpha);
    largest = std::max(largest, g);
  }
  return largest;
}
finding bounded_strip() {
  auto const limits = vort_range(1000, 1e-3);
  auto const growth = [&](double near, double nearer) {
    return largest_on_ray(0.5, limits, nearer) / largest_on_ray(0.5, limits, near);
  };
  double const found = growth(pi / 2 - 1e-1, pi / 2 - 1e-3);
  double const within = largest_on_ray(0.5, limits, 1.4);
  char remark[200];
  std::snprintf(remark, sizeof remark,
                "alpha 0.5: its size 0.001 from the edge over that 0.1 from it; 2 pi i lies on the "
                "edge; within |v| = 1.4 it is below %.1f",
                within);
  return {found, found < 1.5, within < 10, remark};
}

// Figure 4b, with the density that is right: the least over limits for three accuracies.
double error_of_gauss_legendre(double alpha, std::int64_t horizon, std::int64_t terms,
                               bool relative) {
  gruenwald_letnikov const w(alpha);
  double best = HUGE_VAL;
  for (double eps : {1e-2, 1e-3, 1e-4}) {
    auto const sum = gauss_legendre_sum(w, terms, vort_range(horizon, eps));
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
    auto const limits = vort_range(1000, eps);
    shortest = std::min(shortest, std::log(limits.high / limits.low));
  }
  return {shortest, shortest < 7, false, "for eps = 1e-2, longer for less; 6.9 is log 1000"};
}

// What `terms` nodes miss of the integral between these limits, on lags 0..T.
class quadrature_error {
 public:
  quadrature_error(double alpha, std::int64_t horizon, range limits)
      : kernel_(alpha), limits_(limits) {
    auto const fine = gauss_legendre_sum(kernel_, 300, limits);
    for (std::int64_t lag = 0; lag <= horizon; ++lag)
      integral_.push_back(impulse_response(fine.rates, fine.weights, lag));
  }
  double operator()(std::int64_t terms) const {
    auto const sum = gauss_legendre_sum(kernel_, terms, limits_);
    double largest = 0;
    std::int64_t lag = 0;
    for (double value : integral_)
      largest =
          std::max(largest, std::abs(impulse_response(sum.rates, sum.weights, lag++) - value));
    return largest;
  }

 private:
  gruenwald_letnikov kernel_;
  range limits_;
  std::vector<double> integral_;
};

// Figure 4b has e^{-pi^2 S/L} with L = 6.9. The strip |v| < pi/2 holds the ellipse with foci 0 and
// L and axes of ratio rho, log rho = asinh(pi/L): the error falls like rho^{-2S}, S large.
struct rates_of_convergence {
  double length, early, late, of_ellipse;  // per term: 5 to 15 terms, 36 to 64
};
rates_of_convergence measured_rates() {
  auto const limits = vort_range(1000, 1e-2);
  quadrature_error const error(0.5, 1000, limits);
  double const length = length_of(limits);
  return {length, std::log(error(5) / error(15)) / 10, std::log(error(36) / error(64)) / 28,
          2 * std::asinh(pi / length)};
}
finding rate_of_convergence() {
  auto const r = measured_rates();
  char remark[200];
  std::snprintf(
      remark, sizeof remark,
      "5 to 15 terms, T 1000, eps 1e-2; with L = %.1f pi^2/L is %.3f; 36 to 64 terms have "
      "%.3f and 2 asinh(pi/L) is %.3f",
      r.length, pi * pi / r.length, r.late, r.of_ellipse);
  return {r.early, std::abs(r.early / (pi * pi / 6.9) - 1) < 0.1,
          std::abs(r.late / r.of_ellipse - 1) < 0.1, remark};
}
// Equation (9): 4 M L e^{-x}/(e^x - 1) with x = pi^2 S/L, which falls like e^{-2x}.
finding error_formula() {
  auto const r = measured_rates();
  double const found = 2 * pi * pi / r.length;
  char remark[160];
  std::snprintf(remark, sizeof remark,
                "36 to 64 terms, T 1000, eps 1e-2: no M keeps (9) above; 2 asinh(pi/L) is %.3f",
                r.of_ellipse);
  return {r.late, r.late >= found, std::abs(r.late / r.of_ellipse - 1) < 0.1, remark};
}

// Equation (10): O(log(T/eps)) doubles from eps = 1e-3 to 1e-9 at T = 1000.
finding terms_for_an_accuracy() {
  auto const fewest = [](double eps) {
    quadrature_error const error(0.3, 1000, vort_range(1000, eps));
    std::int64_t terms = 1;
    while (error(terms) > eps / 2) ++terms;
    return static_cast<double>(terms);
  };
  auto const product = [](double eps) { return length_of(vort_range(1000, eps)) * -std::log(eps); };
  double const few = fewest(1e-3), many = fewest(1e-9), found = many / few;
  double const squared = found / (product(1e-9) / product(1e-3));
  char remark[200];
  std::snprintf(remark, sizeof remark,
                "%.0f and %.0f terms at alpha 0.3; L log(1/eps), two logarithms, grows by %.2f",
                few, many, product(1e-9) / product(1e-3));
  return {found, found <= 2.2, std::abs(squared - 1) < 0.2, remark};
}

// The abstract, and contribution (i) of the introduction: nodes of Gauss and Laguerre.
finding gauss_laguerre() {
  gruenwald_letnikov const w(0.5);
  auto const error = [&](std::int64_t terms) {
    auto const sum = gauss_laguerre_sum(w, terms);
    double largest = 0;
    for (std::int64_t lag = 1; lag <= 1000; ++lag)
      largest = std::max(largest, std::abs(sum(lag) - w(lag)));
    return largest;
  };
  char remark[160];
  std::snprintf(remark, sizeof remark,
                "alpha 0.5, T 1000; 60 terms have %.1e; 15 of Gauss and Legendre in log rate hold",
                error(60));
  return {error(15), error(15) < 4e-3, error_of_gauss_legendre(0.5, 1000, 15, false) < 4e-3,
          remark};
}

}  // namespace

std::vector<claim> vort_quadrature_claims() {
  return {
      {"vort-3.1-lower", "VORT, Theorem 3.1", "lower tail over eps/4, at most", 1, lower_tail},
      {"vort-3.1-upper", "VORT, Theorem 3.1", "upper tail over eps/4, at most", 1, upper_tail},
      {"vort-3.1", "VORT, Theorem 3.1", "largest error over eps, at most", 1, error_of_many_nodes},
      {"vort-3.1-strip", "VORT, proof of 3.1", "the integrand grows towards |v| = pi/2 by: no", 1,
       bounded_strip},
      {"vort-eq9", "VORT, equation (9)", "fall of log error with each term, 2 pi^2/L, at least",
       2 * pi * pi / length_of(vort_range(1000, 1e-2)), error_formula},
      {"vort-eq10", "VORT, equation (10)", "terms for 1e-9 over terms for 1e-3, T 1000", 2,
       terms_for_an_accuracy},
      {"vort-abstract", "VORT, abstract", "absolute error of 15 Gauss-Laguerre terms, below", 4e-3,
       gauss_laguerre},
      {"vort-fig4b", "VORT, Figure 4b", "absolute error of 15 terms, T 1000, below", 4e-3,
       figure_4b},
      {"vort-fig4b-rate", "VORT, Figure 4b", "fall of log error with each term, pi^2/6.9",
       pi * pi / 6.9, rate_of_convergence},
      {"vort-fig4b-length", "VORT, Figure 4", "length L of the interval of log rates", 6.9,
       length_of_interval}};
}

}  // namespace wane::bench
