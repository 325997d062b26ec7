// Tokens of random values, each with an order of its own, and the outputs of memories for them.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "wane/operators/retention.hpp"
#include "wane/run/run.hpp"
#include "wane/spectra/orders/fractional_convolution.hpp"
#include "wane/spectra/rates/random.hpp"

namespace wane::bench {

constexpr double least_order = 0.1;  // the paper's delta

// Of banks, the lowest first, the one an order is routed to (VORT, section 3).
inline double nearest(std::vector<double> const& banks, double order) {
  return *std::min_element(banks.begin(), banks.end(), [&](double a, double b) {
    return std::abs(a - order) < std::abs(b - order);
  });
}

// Values of both signs and orders in [least_order, 1], even.
struct random_tokens {
  std::vector<double> values, orders;

  random_tokens(std::int64_t count, std::uint64_t seed) {
    std::mt19937_64 bits(seed);
    for (std::int64_t t = 0; t < count; ++t) {
      values.push_back(2 * spectra::unit_uniform(bits) - 1);
      orders.push_back(least_order + (1 - least_order) * spectra::unit_uniform(bits));
    }
  }
  // sum_{i <= t} w_{t-i}(alpha_i) v_i, alpha of `rounded`, which are orders for the tokens' own.
  std::vector<double> outputs(std::vector<double> const& rounded) const {
    std::vector<double> y(values.size());
    spectra::fractional_convolution(all(values), by_token(rounded), all(y));
    return y;
  }
  std::vector<double> outputs() const { return outputs(orders); }
  // Of retention on these nodes.
  template <class Nodes>
  std::vector<double> outputs_on(Nodes const& nodes) const {
    std::vector<double> y(values.size());
    run(retention(retention_inputs<double>{.value = all(values), .alpha = by_token(orders)}, nodes),
        all(y));
    return y;
  }

 private:
  static sequence_view<double const> all(std::vector<double> const& x) {
    return {x.data(), 1, static_cast<index>(x.size()), 1, 1};
  }
  static sequence_view<double> all(std::vector<double>& x) {
    return {x.data(), 1, static_cast<index>(x.size()), 1, 1};
  }
  static token_view<double const> by_token(std::vector<double> const& x) {
    return {x.data(), 1, static_cast<index>(x.size()), 1};
  }
};

// ||a - right|| / ||right||
inline double relative_difference(std::vector<double> const& a, std::vector<double> const& right) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    difference += (a[i] - right[i]) * (a[i] - right[i]);
    norm += right[i] * right[i];
  }
  return std::sqrt(difference / norm);
}

}  // namespace wane::bench
