// Sums of exponentials by the quadratures that VORT names, for comparison.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/algebra/gauss_rule.hpp"
#include "wane/spectra/checks.hpp"
#include "wane/spectra/fit/exponential_sum.hpp"
#include "wane/spectra/fit/kernels.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"
#include "wane/spectra/rates/geometric.hpp"

namespace wane::spectra {

//   auto const sum = wane::spectra::vort_sum(0.5, 32, 4096, 1e-3);
//
// These sums are not certified, and sum_of_accuracy() needs fewer terms than any of them.

// The range of rates of Theorem 3.1 for an absolute error on lags 0..horizon, as printed. From
// alpha = 0.5 on its lower limit does not give the tail that the theorem states.
inline range vort_range(std::int64_t horizon, double accuracy) {
  impl::require_horizon(horizon, "horizon");
  require(accuracy > 0 && accuracy < 1, "accuracy is ", accuracy, "; it must be in (0, 1)");
  double const ratio = 2 * static_cast<double>(horizon) / accuracy;
  return {1 / ratio, 2 * std::log(ratio)};
}

}  // namespace wane::spectra

namespace wane::spectra::impl {

// The Gauss rule of `terms` nodes whose polynomials have the coefficients diagonal(k) for k >= 0
// and beside(k) for k >= 1.
template <class Diagonal, class Beside>
std::vector<node> gauss_rule(std::int64_t terms, Diagonal const& diagonal, Beside const& beside,
                             double total) {
  require_count(terms, "terms");
  Eigen::VectorXd on(terms), off(terms - 1);
  for (Eigen::Index k = 0; k < terms; ++k) on(k) = diagonal(static_cast<double>(k));
  for (Eigen::Index k = 1; k < terms; ++k) off(k - 1) = beside(static_cast<double>(k));
  return gauss_rule(on, off, total);
}

inline double order_with_density(gruenwald_letnikov const& kernel) {
  require(kernel.alpha() < 1, "alpha is 1; the kernel has no density then");
  return kernel.alpha();
}

}  // namespace wane::spectra::impl

namespace wane::spectra {

// VORT, section 3: `terms` Gauss-Legendre nodes in the log rate between the limits; weights come
// from the density of the kernel.
template <completely_monotone Kernel>
exponential_sum gauss_legendre_sum(Kernel const& kernel, std::int64_t terms, range limits) {
  require(limits.low > 0 && limits.low < limits.high, "limits are ", limits.low, " and ",
          limits.high, "; they must be positive and increasing");
  auto const rule = impl::gauss_rule(
      terms, [](double) { return 0.0; }, [](double k) { return k / std::sqrt(4 * k * k - 1); }, 2);
  double const middle = std::log(limits.low * limits.high) / 2;
  double const half = std::log(limits.high / limits.low) / 2;
  exponential_sum sum{{}, {}, kernel.at_zero(), {}};
  for (impl::node const& n : rule) {
    double const rate = std::exp(middle + half * n.at);
    sum.rates.push_back(rate);
    sum.weights.push_back(n.weight * half * rate * kernel.density(rate));
  }
  return sum;
}

// VORT, eq. 6: Gauss-Legendre nodes on vort_range(). Order 1, the last of the paper's banks, has no
// density (eq. 5 would give every node the weight 0); here it is a single node of rate 0.
inline exponential_sum vort_sum(double alpha, std::int64_t terms, std::int64_t horizon,
                                double accuracy) {
  gruenwald_letnikov const kernel(alpha);
  range const limits = vort_range(horizon, accuracy);
  if (alpha == 1) return {{0}, {1}, 1, {}};
  return gauss_legendre_sum(kernel, terms, limits);
}

// Gauss-Laguerre nodes, as in the abstract of VORT, for the weight r^-alpha e^-r over the rates.
// There are none near 1/T, so long lags are lost.
inline exponential_sum gauss_laguerre_sum(gruenwald_letnikov const& kernel, std::int64_t terms) {
  double const alpha = impl::order_with_density(kernel);
  auto const rule = impl::gauss_rule(
      terms, [=](double k) { return 2 * k + 1 - alpha; },
      [=](double k) { return std::sqrt(k * (k - alpha)); }, std::tgamma(1 - alpha));
  exponential_sum sum{{}, {}, kernel.at_zero(), {}};
  for (impl::node const& n : rule) {
    if (n.weight == 0) continue;  // the last of many weigh less than the least double
    sum.rates.push_back(n.at);
    sum.weights.push_back(std::exp(std::log(n.weight) + n.at) * std::pow(n.at, alpha) *
                          kernel.density(n.at));
  }
  return sum;
}

// Gauss-Jacobi nodes in the factor e^-r: exact on the lags below 2 `terms`, useless far beyond. T
// lags take about 2 sqrt(T) terms.
inline exponential_sum gauss_jacobi_sum(gruenwald_letnikov const& kernel, std::int64_t terms) {
  double const alpha = impl::order_with_density(kernel);
  // Jacobi's polynomials for (1-x)^-alpha (1+x)^(alpha-1) on [-1, 1].
  auto const rule = impl::gauss_rule(
      terms, [=](double k) { return k == 0 ? 2 * alpha - 1 : (1 - 2 * alpha) / (4 * k * k - 1); },
      [=](double k) {
        return std::sqrt((k == 1 ? 2 * alpha : k - 1 + alpha) * (k - alpha)) / (2 * k - 1);
      },
      1);
  exponential_sum sum{{}, {}, kernel.at_zero(), {}};
  for (std::size_t k = rule.size(); k-- > 0;) {  // the slowest has the largest factor
    sum.rates.push_back(-std::log1p((rule[k].at - 1) / 2));
    sum.weights.push_back(rule[k].weight);
  }
  return sum;
}

}  // namespace wane::spectra
