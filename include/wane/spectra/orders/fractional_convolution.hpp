// fractional_convolution: the exact power-law memory with an order for each token, offline.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "wane/core/recurrence/checks.hpp"
#include "wane/spectra/algebra/convolution.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"

namespace wane::spectra::impl {

// Orders alpha_m such that w_l(alpha) = Sum_m L_m(alpha) w_l(alpha_m) to 1e-17 for all given orders
// and all lags below `lags`. A few given orders are taken as they are; for many, alpha_m are
// Chebyshev points between the least and the greatest, and L_m the Lagrange polynomials.
//
// The number M of points follows from an error bound. w_l is a polynomial in alpha without negative
// coefficients, so w_l <= w_l(r) <= 1.13 (l+r)^{r-1} on an ellipse whose largest modulus is r >= 1.
// The error is at most 4 w_l(r) rho^{1-M} / (rho-1), where rho is the sum of the half axes over
// half the interval (Trefethen, Approximation Theory and Approximation Practice, theorem 8.2). The
// best rho gives M = 29 for orders from 0.1 to 1 and a million lags.
class interpolated_orders {
 public:
  // The orders are in (0, 1], and not empty.
  interpolated_orders(std::vector<double> orders, std::int64_t lags) {
    std::ranges::sort(orders);
    double const least = orders.front(), most = orders.back();
    orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
    std::size_t const enough = points(least, most, static_cast<double>(lags));
    if (orders.size() <= enough) {
      orders_ = std::move(orders);
      weights_.assign(orders_.size(), 1);  // no order lies between
      return;
    }
    for (std::size_t m = 0; m < enough; ++m) {
      double const angle = std::numbers::pi * static_cast<double>(2 * m + 1) / double(2 * enough);
      orders_.push_back((least + most) / 2 + (most - least) / 2 * std::cos(angle));
      weights_.push_back(m % 2 ? -std::sin(angle) : std::sin(angle));
    }
  }

  std::size_t size() const { return orders_.size(); }
  double order(std::size_t m) const { return orders_[m]; }

  // L_m(alpha) = part(m, alpha) / Sum_n part(n, alpha), by the barycentric formula.
  double part(std::size_t m, double alpha) const { return weights_[m] / (alpha - orders_[m]); }

 private:
  static std::size_t points(double least, double most, double lags) {
    double const middle = (least + most) / 2, half = (most - least) / 2;
    double fewest = HUGE_VAL;
    for (double rho = 1.25; rho < 1e9; rho *= 1.25) {
      double const r = std::max(1.0, middle + half * (rho + 1 / rho) / 2);
      double const log_bound =
          std::log(4 * 1.13 / (rho - 1) / 1e-17) + (r - 1) * std::log(lags + r);
      fewest = std::min(fewest, 1 + log_bound / std::log(rho));
    }
    return static_cast<std::size_t>(std::ceil(std::max(1.0, fewest)));
  }

  std::vector<double> orders_, weights_;
};

// The equation of fractional_convolution for the channels of one head, in place. Each channel is as
// long as `orders`, and not empty.
inline void convolve_fractionally(std::vector<double> const& orders,
                                  std::vector<std::vector<double>>& channels) {
  std::size_t const tokens = orders.size();
  interpolated_orders const nodes(orders, static_cast<std::int64_t>(tokens));
  std::vector<double> parts(tokens, 0.0), x(tokens);
  for (std::size_t m = 0; m < nodes.size(); ++m)
    for (std::size_t t = 0; t < tokens; ++t) parts[t] += nodes.part(m, orders[t]);
  padded_transform transform(2 * tokens);
  std::vector<padded_transform::spectrum> sums(channels.size());
  for (std::size_t m = 0; m < nodes.size(); ++m) {
    gruenwald_letnikov const kernel(nodes.order(m));
    for (std::size_t t = 0; t < tokens; ++t) x[t] = kernel(static_cast<std::int64_t>(t));
    auto const of_kernel = transform.forward(x);
    for (std::size_t j = 0; j < channels.size(); ++j) {
      for (std::size_t t = 0; t < tokens; ++t) {
        // At the order of a node both the part and the sum of parts are infinite.
        bool const at_node = orders[t] == nodes.order(m);
        x[t] = channels[j][t] * (at_node ? 1 : nodes.part(m, orders[t]) / parts[t]);
      }
      auto const of_channel = transform.forward(x);
      sums[j].resize(of_channel.size());
      for (std::size_t i = 0; i < of_channel.size(); ++i)
        sums[j][i] = multiply_add(of_kernel[i], of_channel[i], sums[j][i]);
    }
  }
  for (std::size_t j = 0; j < channels.size(); ++j)
    channels[j] = transform.inverse(sums[j], tokens);
}

}  // namespace wane::spectra::impl

namespace wane::spectra {

//   wane::spectra::fractional_convolution<float>(value, alpha, y);
//
// y_t = Sum_{i <= t} w_{t-i}(alpha_i) v_i, w of gruenwald_letnikov(alpha_i) (VORT, eq. 2): the
// output of retention with exact kernels. value and y are [B, T, H, V]; alpha is [B, T, H], in
// (0, 1]. A view with strides of 0 gives all tokens one order. y does not overlap the inputs.
//
// A channel takes O(M T log T) in double, with about M = 29 convolutions. The only error is
// rounding: for random values 3e-15 of the norm of y up to 20 000 tokens, 5e-14 for a million. It
// is equally large at every t, so relative errors are larger where y is small. A value that is not
// finite spoils all tokens of its channel. Throws wane::error, before anything is written, when a
// shape does not fit or an order is outside (0, 1].
template <class Io>
void fractional_convolution(sequence_view<Io const> value, token_view<Io const> alpha,
                            sequence_view<Io> y) {
  auto const& [batch, tokens, heads, columns] = value.extent;
  recurrence_shape const shape{batch, tokens, heads, 1, columns};
  check("value", value, shape), check("alpha", alpha, shape), check("y", y, shape);
  for (index b = 0; b < batch; ++b)
    for (index t = 0; t < tokens; ++t)
      for (index h = 0; h < heads; ++h) {
        auto const order = static_cast<double>(alpha.read({b, t, h}));
        require(order > 0 && order <= 1, "alpha at batch ", b, ", time ", t, ", head ", h, " is ",
                order, "; it must be in (0, 1]");
      }
  if (tokens == 0) return;
  for (index b = 0; b < batch; ++b)
    for (index h = 0; h < heads; ++h) {
      std::vector<double> orders;
      std::vector<std::vector<double>> channels(static_cast<std::size_t>(columns));
      for (index t = 0; t < tokens; ++t) {
        orders.push_back(static_cast<double>(alpha.read({b, t, h})));
        for (index j = 0; j < columns; ++j)
          channels[std::size_t(j)].push_back(static_cast<double>(value.read({b, t, h}, j)));
      }
      impl::convolve_fractionally(orders, channels);
      for (index t = 0; t < tokens; ++t)
        for (index j = 0; j < columns; ++j) {
          double const sum = channels[std::size_t(j)][std::size_t(t)];
          y.write({b, t, h}, j, static_cast<widened<Io>>(sum));
        }
    }
}

}  // namespace wane::spectra
