// STLT (arXiv 2506.15714), sections 3.7 and 3.8: the three terms of its error bound.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>

#include "claims/claim.hpp"
#include "claims/laplace_forms.hpp"

namespace wane::bench {
namespace {

using spectra::window_shape;
using number = std::complex<double>;
using std::numbers::pi;

// A signal x(u) = u^p e^{-u} / p! from u = 0 on; its transform is (s + 1)^{-p-1}. It is met at tau,
// on the line Re s = gamma.
constexpr double tau = 1, line = 0.5;
number transform(number s, int p) { return std::pow(1. + s, -p - 1); }
double signal(double u, int p) { return std::pow(u, p) * std::exp(-u) / std::tgamma(p + 1); }

// The inverse integral from gamma - jB to gamma + jB by the trapezoidal rule with S intervals.
double inverse(double bound, index nodes, int p) {
  double const step = 2 * bound / static_cast<double>(nodes);
  number sum = 0;
  for (index k = 0; k <= nodes; ++k) {
    number const s(line, -bound + static_cast<double>(k) * step);
    sum += (k == 0 || k == nodes ? 0.5 : 1) * transform(s, p) * std::exp(s * tau);
  }
  return (sum * step).real() / (2 * pi);
}
// With so many nodes that only what lies beyond B is missing; the largest over a turn of B tau.
double truncation(double bound, int p) {
  double largest = 0;
  for (int phase = 0; phase < 16; ++phase) {
    double const b = bound + 2 * pi / tau * phase / 16;
    largest = std::max(largest, std::abs(inverse(b, index(b * 400), p) - signal(tau, p)));
  }
  return largest;
}

finding truncated_contour() {
  double const at_10 = truncation(10, 0), at_20 = truncation(20, 0), at_40 = truncation(40, 0);
  double const at_80 = truncation(80, 0);
  double const smooth = truncation(40, 2) / truncation(20, 2);
  char remark[300];
  std::snprintf(remark, sizeof remark,
                "x = e^{-u} at tau = 1: off by %.1e, %.1e, %.1e, %.1e at B = 10, 20, 40, 80, like "
                "1/B; the integral of |L| that bounds it is infinite; x = u^2 e^{-u}/2, which "
                "begins smoothly: %.3f from 20 to 40, like B^-3",
                at_10, at_20, at_40, at_80, smooth);
  double const found = at_40 / at_20;
  return {found, found <= std::exp(-20 * tau), false, remark};
}

// log2 of what twice as many nodes gain.
double order_of_rule(double bound, index nodes) {
  double const limit = inverse(bound, nodes * 64, 0);
  return std::log2(std::abs(inverse(bound, nodes, 0) - limit) /
                   std::abs(inverse(bound, 2 * nodes, 0) - limit));
}

finding order_of_quadrature() {
  double const found = order_of_rule(20, 256);
  char remark[200];
  std::snprintf(remark, sizeof remark,
                "x = e^{-u}, trapezoidal rule, B = 20, from 256 nodes to 512; from 8 to 16, less "
                "than two a turn of e^{s tau}, %.2f",
                order_of_rule(20, 8));
  return {found, std::abs(found - 2) < 0.05, false, remark};
}

// B = S leaves the distance of nodes at 2, and the sum is periodic in tau: signals tau + pi, ...
// come in.
finding all_errors() {
  auto const error = [](double bound, index nodes) {
    return std::abs(inverse(bound, nodes, 2) - signal(tau, 2)) / signal(tau, 2);
  };
  double aliased = 0;
  for (int m = 1; m < 50; ++m) aliased += signal(tau + m * pi, 2) * std::exp(-line * m * pi);
  double const found = error(16384, 16384);
  char remark[400];
  std::snprintf(remark, sizeof remark,
                "x = u^2 e^{-u}/2, S = 16, 256, 4096, 16384: %.4f, %.4f, %.4f, %.4f of x; what "
                "comes in from tau + m pi is %.4f, whatever S; S = 14, log of a million: %.2f; "
                "B = sqrt S goes to 0 instead, %.0e, %.0e, %.0e for S = 256, 4096, 16384",
                error(16, 16), error(256, 256), error(4096, 4096), found, aliased / signal(tau, 2),
                error(14, 14), error(16, 256), error(64, 4096), error(128, 16384));
  return {found, found < 1e-3, false, remark};
}

// |x - x * w| of a cosine of 64 tokens a period, w a Hann window whose weights add up to 1.
double smoothed_away(double width) {
  spectra::window const w(window_shape::hann, width);
  double sum = 0, kept = 0;
  for (index lag = -index(width); lag <= index(width); ++lag) {
    double const weight = w(static_cast<double>(lag));
    sum += weight, kept += weight * std::cos(2 * pi / 64 * static_cast<double>(lag));
  }
  return std::abs(1 - kept / sum);
}
// What a window changes in L, over L.
template <window_shape Window>
double cut_off(double sigma, double width) {
  std::vector<double> const x(4000, 1.);
  laplace_node const node{sigma, 0};
  number const whole = relative_form<double, window_shape::none>(x, node).back();
  return std::abs(relative_form<double, Window>(x, node, width).back() / whole - 1.);
}

finding window_error() {
  constexpr double sigma = 0.05;
  double const found = smoothed_away(64) / smoothed_away(32);
  double const right = std::exp(-32 * sigma);
  double const of_rectangle =
      cut_off<window_shape::rectangular>(sigma, 64) / cut_off<window_shape::rectangular>(sigma, 32);
  double const of_hann =
      cut_off<window_shape::hann>(sigma, 512) / cut_off<window_shape::hann>(sigma, 256);
  char remark[400];
  std::snprintf(
      remark, sizeof remark,
      "|x - x * w| of a cosine of period 64, Hann: %.2f, %.2f, %.2f at T = 16, 32, 64, it "
      "grows; what a rectangular window cuts from L of wane::laplace falls by %.4f from "
      "T = 32 to 64, as e^{-32 sigma}; what Hann's takes, by %.3f from 256 to 512, like "
      "T^-2",
      smoothed_away(16), smoothed_away(32), smoothed_away(64), of_rectangle, of_hann);
  return {found, found <= right, std::abs(of_rectangle / right - 1) < 1e-6, remark};
}

}  // namespace

std::vector<claim> stlt_bound_claims() {
  return {{"stlt-3.7-contour", "STLT, section 3.8, 1",
           "the error of a contour cut at B = 40 over that at 20, e^{-20 tau} at most",
           std::exp(-20.), truncated_contour},
          {"stlt-3.7-rule", "STLT, section 3.8, 2",
           "order p of the trapezoidal rule in S, B being fixed", 2, order_of_quadrature},
          {"stlt-3.7-total", "STLT, section 3.7",
           "relative error of S = 16384 nodes with B = S, below any bound, say", 1e-3, all_errors},
          {"stlt-3.7-window", "STLT, section 3.8, 3",
           "the error |x - x * w| at T = 64 over that at 32, e^{-32 sigma} at most",
           std::exp(-32 * 0.05), window_error}};
}

}  // namespace wane::bench
