// The Gruenwald-Letnikov kernel w_l = Gamma(l+alpha) / (Gamma(alpha) l!), any lag by itself.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "wane/core/error.hpp"

namespace wane::spectra {

//   wane::spectra::gruenwald_letnikov const w(0.5);
//   double const weight = w(1000), slope = w.derivative(1000);  // at lag 1000
//
// The kernel of fractional order alpha in (0, 1] (VORT, section 2): w_0 = 1 and w_l ~
// l^{alpha-1}/Gamma(alpha). alpha = 1 is the plain sum, w_l = 1 exactly. Throws wane::error for
// other orders and for negative lags.
//
// A running product would drift with l, and log-gammas would cancel, so each lag is computed alone:
//   l < 16:  alpha (alpha+1) ... (alpha+l-1) / l!
//   l >= 16: with z = l + alpha/2, where the expansion of the gamma ratio is even in 1/z,
//            w_l = z^{alpha-1}/Gamma(alpha) Sum_k (alpha-1)(alpha-2)...(alpha-2k) g_k z^{-2k},
//            Sum_k g_k u^{2k} = ((u/2)/sinh(u/2))^alpha          (Tricomi and Erdelyi 1951)
// The term after the last one kept, k = 7, is below 1e-17 at l = 16.
class gruenwald_letnikov {
 public:
  explicit gruenwald_letnikov(double alpha) : order(alpha) {
    require(alpha > 0 && alpha <= 1, "alpha is ", alpha, "; it must be in (0, 1]");
    // log((u/2)/sinh(u/2)) = Sum_m log_series[m-1] u^{2m}, that is -B_{2m}/(2m (2m)!).
    constexpr std::array<double, terms> log_series = {-1.0 / 24,        1.0 / 2880,
                                                      -1.0 / 181440,    1.0 / 9676800,
                                                      -1.0 / 479001600, 691.0 / 15692092416000.0};
    std::array<double, terms + 1> g{1.0};
    double falling = 1;
    for (std::size_t k = 1; k <= terms; ++k) {  // k g_k = alpha Sum_m m log_series_m g_{k-m}
      for (std::size_t m = 1; m <= k; ++m)
        g[k] += static_cast<double>(m) * log_series[m - 1] * g[k - m];
      g[k] *= alpha / static_cast<double>(k);
      auto const even = static_cast<double>(2 * k);
      falling *= (alpha - (even - 1)) * (alpha - even);
      series[k - 1] = falling * g[k];
    }
    // 1/Gamma(alpha) = alpha/Gamma(1+alpha), because Gamma is steep near 0 and flat on [1, 2].
    inverse_gamma = alpha / std::tgamma(1 + alpha);
  }

  double alpha() const { return order; }

  double at_zero() const { return 1; }

  double operator()(std::int64_t lag) const {
    require(lag >= 0, "lag is ", lag, "; it must not be negative");
    auto const l = static_cast<double>(lag);
    if (lag < 16) {  // alpha = 1 multiplies whole numbers below 2^53: exact
      double rising = 1;
      double factorial = 1;
      for (double i = 0; i < l; ++i) {
        rising *= i + order;
        factorial *= i + 1;
      }
      return rising / factorial;
    }
    double const z = l + order / 2;
    double const step = 1 / (z * z);
    double correction = 0;
    for (std::size_t k = terms; k-- > 0;) correction = (correction + series[k]) * step;
    // z^alpha / z, not z^{alpha-1}: a rounding of alpha - 1 would be multiplied by log z, up to 27.
    double const leading = inverse_gamma * (std::pow(z, order) / z);
    return leading + leading * correction;
  }

  // dw_l/dalpha = w_l (psi(l+alpha) - psi(alpha)), whose parts have the same sign.
  double derivative(std::int64_t lag) const {
    double const value = (*this)(lag);
    auto const l = static_cast<double>(lag);
    if (lag >= 16) return value * (boost::math::digamma(l + order) - boost::math::digamma(order));
    double sum = 0;
    for (double i = l; i-- > 0;) sum += 1 / (i + order);
    return value * sum;
  }

  // w_0 + ... + w_{count-1} = Gamma(count+alpha) / (Gamma(1+alpha) Gamma(count)).
  double sum(std::int64_t count) const {
    return (*this)(count) * (static_cast<double>(count) / order);
  }

  // w_{l-1} - 2 w_l + w_{l+1} for l >= 1. It falls with l, because w is completely monotone.
  double second_difference(std::int64_t lag) const {
    require(lag >= 1, "lag is ", lag, "; a second difference needs a lag of at least 1");
    auto const l = static_cast<double>(lag);
    return (*this)(lag - 1) * ((1 - order) / l) * ((2 - order) / (l + 1));
  }

  // Sum_l w_l e^{-i omega l} = (1 - e^{-i omega})^{-alpha}, of modulus |2 sin(omega/2)|^{-alpha};
  // omega is in radians a step, in [-pi, pi]. At 0 the response is infinite, and refused.
  std::complex<double> frequency_response(double omega) const {
    require(std::abs(omega) <= pi && omega != 0, "omega is ", omega,
            "; it must be in [-pi, pi] and not 0, where the response has no bound");
    double const angle = (pi - std::abs(omega)) / 2 * order;
    return std::polar(std::pow(2 * std::abs(std::sin(omega / 2)), -order),
                      omega > 0 ? -angle : angle);
  }

  // w_l = Int_0^inf density(r) e^{-rl} dr over the rates r: density = (e^r - 1)^{-alpha} /
  // (Gamma(alpha) Gamma(1-alpha)). It is 0 at alpha = 1, where all mass lies at r = 0.
  double density(double rate) const {
    return std::pow(std::expm1(rate), -order) * std::sin(pi * std::min(order, 1 - order)) / pi;
  }
  // w_l falls like l^{-tail_exponent}.
  double tail_exponent() const { return 1 - order; }

 private:
  static constexpr double pi = std::numbers::pi;
  static constexpr std::size_t terms = 6;

  double order;
  double inverse_gamma;
  std::array<double, terms> series{};
};

}  // namespace wane::spectra
