// STLT (arXiv 2506.15714), section 3.4: the results that an FFT of S points per position can give.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <vector>

#include "claims/claim.hpp"
#include "claims/counted.hpp"
#include "claims/laplace_forms.hpp"

namespace wane::bench {
namespace {

using std::numbers::pi;
constexpr index nodes = 32;

struct pair {
  counted re, im;
  friend pair operator+(pair a, pair b) { return {a.re + b.re, a.im + b.im}; }
  friend pair operator-(pair a, pair b) { return {a.re - b.re, a.im - b.im}; }
  friend pair operator*(pair a, pair b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};
pair turned(double angle) { return {std::cos(angle), std::sin(angle)}; }

// sum_l x_l e^{-2 pi j k l / n} for every k, in halves.
std::vector<pair> transformed(std::vector<pair> const& x) {
  std::size_t const n = x.size();
  if (n == 1) return x;
  std::vector<pair> part[2], sums(n);
  for (std::size_t l = 0; l < n; ++l) part[l % 2].push_back(x[l]);
  auto const even = transformed(part[0]), odd = transformed(part[1]);
  for (std::size_t k = 0; k < n / 2; ++k) {
    pair const far = turned(-2 * pi * double(k) / double(n)) * odd[k];
    sums[k] = even[k] + far, sums[k + n / 2] = even[k] - far;
  }
  return sums;
}

struct comparison {
  double difference;
  std::int64_t operations;
};
// The last S inputs, damped by one sigma, in an FFT of so many points, against the L of these
// nodes.
comparison by_fft(std::vector<laplace_node> const& all, double sigma, std::size_t points) {
  auto const x = random_signal(nodes);
  std::vector<pair> damped;
  for (index l = 0; l < nodes; ++l)
    damped.push_back(
        {x[static_cast<std::size_t>(nodes - 1 - l)] * std::exp(-sigma * double(l)), 0});
  damped.resize(points, {0, 0});
  std::int64_t const before = counted::operations();
  auto const found = transformed(damped);
  comparison result{0, counted::operations() - before};
  double scale = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    auto const right = relative_form<double, spectra::window_shape::none>(x, all[k]).back();
    std::complex<double> const is(double(found[k].re), double(found[k].im));
    result.difference = std::max(result.difference, std::abs(is - right));
    scale = std::max(scale, std::abs(right));
  }
  result.difference /= scale;
  return result;
}

finding transform_by_fft() {
  std::vector<laplace_node> equal, halves, free;
  for (index k = 0; k < nodes; ++k) {
    double const turn = 2 * pi * double(k) / nodes;
    equal.push_back({0.05, turn > pi ? turn - 2 * pi : turn});
    halves.push_back({0.05, turn / 2});
    free.push_back({0.7 * std::pow(0.001 / 0.7, double(k) / (nodes - 1)), turn / 2});
  }
  auto const of_equal = by_fft(equal, 0.05, nodes);
  double least = HUGE_VAL;
  for (double sigma = 0.001; sigma < 1; sigma *= 1.1)
    least = std::min(least, by_fft(free, sigma, 2 * nodes).difference);
  char remark[500];
  std::snprintf(
      remark, sizeof remark,
      "S 32, sigma log-spaced and omega even in [0, pi], as section 3.7 has them, a window of S, "
      "the best sigma of an FFT of 2 S points, which has these frequencies; for one sigma "
      "%.0e, and %.0e by S points for omega = 2 pi k/S, with %lld operations a token and channel "
      "where the recurrence takes 8 S = %lld",
      by_fft(halves, 0.05, 2 * nodes).difference, of_equal.difference,
      static_cast<long long>(of_equal.operations), static_cast<long long>(8 * nodes));
  return {least, least < 1e-6, false, remark};
}

// R_nm of one channel, n and m <= n: each a sum of S products of complex numbers.
finding relevance_by_fft() {
  constexpr std::size_t tokens = 256;
  std::vector<std::vector<pair>> sums(tokens);
  auto const x = random_signal(index(tokens) * nodes * 2);
  std::size_t next = 0;
  for (auto& of_token : sums)
    for (index k = 0; k < nodes; ++k, next += 2) of_token.push_back({x[next], x[next + 1]});
  std::int64_t const before = counted::operations();
  std::size_t entries = 0;
  for (std::size_t n = 0; n < tokens; ++n)
    for (std::size_t m = 0; m <= n; ++m, ++entries) {
      counted sum = 0;
      for (std::size_t k = 0; k < std::size_t(nodes); ++k)
        sum += sums[n][k].re * sums[m][k].re + sums[n][k].im * sums[m][k].im;
    }
  double const found = double(counted::operations() - before) / double(entries);
  double const all = 4096. * 4097 / 2;
  char remark[400];
  std::snprintf(remark, sizeof remark,
                "operations an entry, counted over 256 tokens, S 32; N = 4096 has %.1e entries, "
                "%.1e operations for a channel, and N S log2 S = %.1e is less than one for each "
                "entry from N = 2 S log2 S = 320 on, however they are found; what is linear in N "
                "is a read-out, which wane::laplace has",
                all, found * all, 4096. * nodes * 5);
  double const asked = 4096. * nodes * 5 / all;
  return {found, found <= asked, false, remark};
}

}  // namespace

std::vector<claim> stlt_relevance_claims() {
  return {{"stlt-3.4-fft", "STLT, section 3.4",
           "operations an entry of R, if an FFT of S points a position gives it, N = 4096",
           4096. * nodes * 5 / (4096. * 4097 / 2), relevance_by_fft},
          {"stlt-3.4-nodes", "STLT, section 3.4",
           "difference of L by an FFT of S points from that of learnt nodes", 0, transform_by_fft}};
}

}  // namespace wane::bench
