// STLT (arXiv 2506.15714), equation (4): its weights are counted from the first token.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdio>

#include "claims/claim.hpp"
#include "claims/laplace_forms.hpp"

namespace wane::bench {
namespace {

using spectra::window, spectra::window_shape;

constexpr double width = 64;  // tokens, "often 32 or 64" (section 4)
constexpr laplace_node node{0.1, 0.3};

// An input of 1 at token `at` of `tokens`, all others 0.
std::vector<double> one_input(index tokens, index at) {
  std::vector<double> x(static_cast<std::size_t>(tokens));
  x[static_cast<std::size_t>(at - 1)] = 1;
  return x;
}

// Half-lives: an input 63 tokens old weighs e^{-63 sigma} as much as the newest.
finding old_against_new() {
  constexpr index n = 200, age = 63;
  window const w(window_shape::rectangular, width);
  auto const absolute = [&](index at) {
    return std::abs(absolute_form<double>(one_input(n, at), node, w).back());
  };
  auto const relative = [&](index at) {
    return std::abs(
        relative_form<double, window_shape::rectangular>(one_input(n, at), node, width).back());
  };
  double const right = std::exp(-node.sigma * age), found = absolute(n - age) / absolute(n);
  double const ours = relative(n - age) / relative(n);
  char remark[240];
  std::snprintf(remark, sizeof remark,
                "impulses 63 and 0 tokens before n = 200, rectangular window of 64, sigma 0.1; "
                "what is near is forgotten first, e^{+63 sigma}; counted from the present %.3g",
                ours);
  return {found, std::abs(found / right - 1) < 1e-9, std::abs(ours / right - 1) < 1e-9, remark};
}

// The input repeats after 312 tokens, so the windows before tokens 64 and 1000 hold the same.
finding size_along_time() {
  constexpr index period = 312, tokens = 1000;
  auto const one = random_signal(period);
  std::vector<double> x;
  for (index t = 0; t < tokens; ++t) x.push_back(one[static_cast<std::size_t>(t % period)]);
  window const w(window_shape::hann, width);
  auto const absolute = absolute_form<double>(x, node, w);
  auto const relative = relative_form<double, window_shape::hann>(x, node, width);
  double const found = std::abs(absolute[999]) / std::abs(absolute[63]);
  double const ours = std::abs(relative[999]) / std::abs(relative[63]);
  char remark[240];
  std::snprintf(remark, sizeof remark,
                "sigma 0.1, Hann, half-width 64: |L| = %.0e, %.0e, %.0e, %.0e at n = 64, 250, 500, "
                "1000; counted from the present %.2g, %.2g, %.2g, %.2g",
                std::abs(absolute[63]), std::abs(absolute[249]), std::abs(absolute[499]),
                std::abs(absolute[999]), std::abs(relative[63]), std::abs(relative[249]),
                std::abs(relative[499]), std::abs(relative[999]));
  return {found, std::abs(found - 1) < 1e-6, std::abs(ours - 1) < 1e-9, remark};
}

// The last token whose L is not 0.
template <class T>
index last_of(std::vector<double> const& x, double sigma) {
  auto const sums = absolute_form<T>(x, {sigma, node.omega}, window(window_shape::hann, width));
  index last = 0;
  for (std::size_t n = 0; n < sums.size(); ++n)
    if (sums[n] != 0.) last = static_cast<index>(n) + 1;
  return last;
}

finding tokens_until_all_is_zero() {
  constexpr index tokens = 100000;
  auto const x = random_signal(tokens);
  index const found = last_of<float>(x, node.sigma);
  auto const ours = relative_form<float, window_shape::none>(x, node);
  auto const right = relative_form<double, window_shape::none>(x, node);
  double error = 0, scale = 0;
  for (std::size_t n = x.size() / 2; n < x.size(); ++n)
    error = std::max(error, std::abs(ours[n] - right[n])),
    scale = std::max(scale, std::abs(right[n]));
  char remark[300];
  std::snprintf(remark, sizeof remark,
                "float, Hann, half-width 64, sigma 0.1: from then on every L is 0; in double %lld; "
                "sigma 0.01: %lld and %lld; counted from the present, in float, the second 50000 "
                "are within %.1e of double",
                static_cast<long long>(last_of<double>(x, node.sigma)),
                static_cast<long long>(last_of<float>(x, 0.01)),
                static_cast<long long>(last_of<double>(x, 0.01)), error / scale);
  return {static_cast<double>(found), found >= tokens, error / scale < 1e-5, remark};
}

}  // namespace

std::vector<claim> stlt_absolute_claims() {
  return {{"stlt-eq4", "STLT, equation (4)",
           "weight of an input 63 tokens old over that of the newest, e^{-63 sigma}",
           std::exp(-63 * node.sigma), old_against_new},
          {"stlt-eq4-size", "STLT, equation (4)",
           "size of L at token 1000 over that at 64, the inputs in the window being the same", 1,
           size_along_time},
          {"stlt-eq4-zero", "STLT, abstract", "tokens of context, at least", 1e5,
           tokens_until_all_is_zero}};
}

}  // namespace wane::bench
