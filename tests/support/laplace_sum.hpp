// The short-time Laplace transform as the sum it is, and its nodes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <vector>

#include "support/random_values.hpp"
#include "wane/operators/laplace.hpp"

namespace support {

using wane::index;
using wane::spectra::window_shape;

// A number and its derivative by something.
struct dual {
  long double value, slope = 0;

  dual(long double x, long double by = 0) : value(x), slope(by) {}
  friend dual operator+(dual a, dual b) { return {a.value + b.value, a.slope + b.slope}; }
  friend dual operator-(dual a, dual b) { return {a.value - b.value, a.slope - b.slope}; }
  friend dual operator*(dual a, dual b) {
    return {a.value * b.value, a.value * b.slope + a.slope * b.value};
  }
  friend dual operator/(dual a, dual b) {
    return {a.value / b.value, (a.slope - a.value / b.value * b.slope) / b.value};
  }
  friend dual exp(dual x) { return {std::exp(x.value), std::exp(x.value) * x.slope}; }
  friend dual sin(dual x) { return {std::sin(x.value), std::cos(x.value) * x.slope}; }
  friend dual cos(dual x) { return {std::cos(x.value), -std::sin(x.value) * x.slope}; }
};
inline long double value_of(long double x) { return x; }
inline long double value_of(dual x) { return x.value; }

// w(l; W) for l >= 0.
template <class Real>
Real window_weight(window_shape shape, Real width, index lag) {
  using std::exp, std::cos;
  auto const l = static_cast<long double>(lag);
  bool const cut = shape == window_shape::rectangular || shape == window_shape::hann;
  if (cut && !(l < value_of(width))) return 0.L;
  if (shape == window_shape::hann)
    return Real(.5L) * (Real(1.L) + cos(Real(std::numbers::pi_v<long double> * l) / width));
  if (shape == window_shape::exponential) return exp(Real(-l) / width);
  return 1.L;
}

template <class Real>
struct node_of {
  Real sigma, omega, read_re, read_im, mask;
};

// Re m C e^{-(sigma + i omega) l}. omega l is longer than a long double: cos and sin take its
// rounding too.
template <class Real>
Real node_weight(node_of<Real> const& node, index lag) {
  using std::exp, std::cos, std::sin;
  Real const l(static_cast<long double>(lag)), turn = node.omega * l;
  Real const rest(std::fma(value_of(node.omega), value_of(l), -value_of(turn)));
  Real const c = cos(turn) - rest * sin(turn), s = sin(turn) + rest * cos(turn);
  return node.mask * exp(Real(0.L) - node.sigma * l) * (node.read_re * c + node.read_im * s);
}

// The parameters of `laplace`, with all there are: [H, S], [H, S, channels], [H], and [H, S] or,
// for more than one mask, [masks, H, S].
template <class P>
struct laplace_parameters {
  index heads = 1, nodes = 1, channels = 1, masks = 1;
  std::vector<P> sigma, omega, width, mask;
  std::vector<std::complex<P>> read_out;

  laplace_parameters(index h, index s, index v, index n = 1)
      : heads(h),
        nodes(s),
        channels(v),
        masks(n),
        sigma(count(h * s)),
        omega(count(h * s)),
        width(count(h), P(1)),
        mask(count(n * h * s), P(1)),
        read_out(count(h * s * v), std::complex<P>(1)) {}

  template <class Random>
  void draw(Random& random, double width_low, double width_high) {
    auto const some = [&](auto& of, double low, double high) {
      for (auto& x : of) x = static_cast<P>(random.uniform(low, high));
    };
    some(sigma, 0, .3), some(omega, -3, 3), some(mask, .2, 1), some(width, width_low, width_high);
    for (auto& c : read_out)
      c = {static_cast<P>(random.uniform(-1, 1)), static_cast<P>(random.uniform(-1, 1))};
  }

  wane::laplace_parameters<P const> view(bool has_width, bool has_mask) const {
    wane::laplace_parameters<P const> all{.sigma = {sigma.data(), heads, nodes},
                                          .omega = {omega.data(), heads, nodes},
                                          .read_out = {read_out.data(), heads, nodes, channels}};
    if (has_width) all.width = {width.data(), heads};
    if (has_mask) all.mask = {mask.data(), heads, nodes};
    if (has_mask && masks != 1) all.mask = {mask.data(), masks, heads, nodes};
    return all;
  }
  wane::laplace_parameters<P> view(bool has_width, bool has_mask) {
    wane::laplace_parameters<P> all{.sigma = {sigma.data(), heads, nodes},
                                    .omega = {omega.data(), heads, nodes},
                                    .read_out = {read_out.data(), heads, nodes, channels}};
    if (has_width) all.width = {width.data(), heads};
    if (has_mask) all.mask = {mask.data(), heads, nodes};
    if (has_mask && masks != 1) all.mask = {mask.data(), masks, heads, nodes};
    return all;
  }

  // Of sequence n, where that matters.
  template <class Real = long double>
  node_of<Real> node(index h, index k, index j, index n = 0) const {
    auto const i = count(h * nodes + k), c = count((h * nodes + k) * channels + j % channels);
    auto const real = [](P x) { return Real(static_cast<long double>(x)); };
    return {real(sigma[i]), real(omega[i]), real(read_out[c].real()), real(read_out[c].imag()),
            real(mask[masks > 1 ? i + count(n * heads * nodes) : i])};
  }

  // What `lags` lags weigh in the output of a channel, as far as they reach.
  std::vector<long double> response(window_shape shape, index h, index j, index lags,
                                    index n = 0) const {
    long double const w = static_cast<long double>(width[count(h)]);
    if (shape == window_shape::hann || shape == window_shape::rectangular)
      lags = std::min(lags, static_cast<index>(std::ceil(w)));
    if (shape == window_shape::exponential) lags = std::min(lags, negligible(1 / w));
    std::vector<long double> weights(count(lags), 0.L);
    for (index k = 0; k < nodes; ++k) {
      auto const one = node(h, k, j, n);
      for (index l = 0; l < std::min(lags, negligible(one.sigma)); ++l)
        weights[count(l)] += window_weight(shape, w, l) * node_weight(one, l);
    }
    return weights;
  }
  // Lags at which so much fading leaves less than e^-50, or 2e-22.
  static index negligible(long double rate) {
    return rate > 5e-17L ? 1 + static_cast<index>(50 / rate) : std::numeric_limits<index>::max();
  }

  static std::size_t count(index n) { return static_cast<std::size_t>(n); }
};

// sum_l response_l x(n - l) over the tokens there are, 0 <= n - l.
template <class Input>
long double laplace_sum(std::vector<long double> const& response, index n, Input const& x) {
  long double sum = 0;
  auto const lags = std::min(static_cast<index>(response.size()), n + 1);
  for (index l = 0; l < lags; ++l)
    sum += response[static_cast<std::size_t>(l)] * static_cast<long double>(x(n - l));
  return sum;
}

// The largest error over the rms of what should be: of one output of the transform.
class error_of_rms {
 public:
  void add(long double is, long double should_be) {
    finite_ &= std::isfinite(is);
    largest_ = std::max(largest_, std::abs(is - should_be));
    squares_ += should_be * should_be;
    ++count_;
  }
  double operator()() const {
    if (!finite_ || count_ == 0) return HUGE_VAL;
    return static_cast<double>(largest_ / std::sqrt(squares_ / static_cast<long double>(count_)));
  }

 private:
  bool finite_ = true;
  long double largest_ = 0, squares_ = 0;
  index count_ = 0;
};

}  // namespace support
