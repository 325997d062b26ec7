// The claims of VORT (arXiv 2605.08966) about outputs: equation (12), and S = 15 in section 6.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "claims/claim.hpp"
#include "wane/operators/retention.hpp"
#include "wane/run/run.hpp"
#include "wane/spectra/convolution.hpp"
#include "wane/spectra/gruenwald_letnikov.hpp"
#include "wane/spectra/order_weights.hpp"
#include "wane/spectra/quadrature_sums.hpp"
#include "wane/spectra/random.hpp"
#include "wane/spectra/shared_rates.hpp"
#include "wane/spectra/sum_of_exponentials.hpp"

namespace wane::bench {
namespace {

using namespace spectra;

constexpr std::int64_t length = 10000;

double relative_difference(std::vector<double> const& a, std::vector<double> const& right) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    difference += (a[i] - right[i]) * (a[i] - right[i]);
    norm += right[i] * right[i];
  }
  return std::sqrt(difference / norm);
}

// kernel(lag) on lags 0..length-1.
template <class Kernel>
std::vector<double> tabulated(Kernel const& kernel) {
  std::vector<double> values;
  for (std::int64_t lag = 0; lag < length; ++lag) values.push_back(kernel(lag));
  return values;
}
// Nodes of Gauss and Legendre as section 3 has them, lag 0 from the same sum.
std::vector<double> of_the_paper(double order, double accuracy) {
  auto const sum = gauss_legendre_sum(gruenwald_letnikov(order), 15, vort_range(length, accuracy));
  return tabulated([&](std::int64_t lag) { return impulse_response(sum.rates, sum.weights, lag); });
}

// Values of both signs and orders in [0.1, 1], even.
struct routed_tokens {
  static constexpr double least = 0.1;
  std::vector<double> values, orders;

  routed_tokens() {
    std::mt19937_64 bits(1);
    for (std::int64_t t = 0; t < length; ++t) {
      values.push_back(2 * unit_uniform(bits) - 1);
      orders.push_back(least + (1 - least) * unit_uniform(bits));
    }
  }
  // Sum_{i <= t} w_{t-i}(alpha_i) v_i at every fiftieth t.
  std::vector<double> outputs() const {
    std::vector<gruenwald_letnikov> kernels(orders.begin(), orders.end());
    return at_some([&](std::int64_t t) {
      double sum = 0;
      for (std::int64_t i = 0; i <= t; ++i)
        sum += kernels[std::size_t(i)](t - i) * values[std::size_t(i)];
      return sum;
    });
  }
  // Equation (12), for one kernel table a bank, k = 1..K.
  std::vector<double> outputs_of_banks(std::vector<std::vector<double>> const& banks) const {
    auto const count = static_cast<double>(banks.size());
    std::vector<double> all(values.size(), 0.0);
    for (std::size_t k = 0; k < banks.size(); ++k) {
      std::vector<double> routed(values.size(), 0.0);
      for (std::size_t i = 0; i < values.size(); ++i) {
        double const nearest = std::round((orders[i] - least) / (1 - least) * count);
        if (std::max(1.0, nearest) == static_cast<double>(k + 1)) routed[i] = values[i];
      }
      auto const part = causal_convolution(banks[k], routed);
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += part[i];
    }
    return at_some([&](std::int64_t t) { return all[std::size_t(t)]; });
  }
  std::vector<double> outputs_of_retention(std::int64_t nodes) const {
    order_weights<double> const weights(shared_rates(nodes, length, least));
    retention<double> const memory({values.data(), 1, length, 1, 1}, {orders.data(), 1, length, 1},
                                   weights.table());
    std::vector<double> y(values.size());
    run(memory, sequence_view<double>(y.data(), 1, length, 1, 1));
    return at_some([&](std::int64_t t) { return y[std::size_t(t)]; });
  }

 private:
  template <class Output>
  static std::vector<double> at_some(Output const& output) {
    std::vector<double> found;
    for (std::int64_t t = 49; t < length; t += 50) found.push_back(output(t));
    return found;
  }
};

// The least of what three limits of the paper's nodes give.
template <class Error>
double least_of_limits(Error const& error) {
  return std::min({error(1e-2), error(1e-3), error(1e-4)});
}

finding routed_outputs() {
  constexpr int count = 10;
  routed_tokens const x;
  auto const right = x.outputs();
  auto const error_of = [&](auto const& kernel) {
    std::vector<std::vector<double>> banks;
    for (int k = 1; k <= count; ++k)
      banks.push_back(
          kernel(std::min(1.0, routed_tokens::least + (1 - routed_tokens::least) * k / count)));
    return relative_difference(x.outputs_of_banks(banks), right);
  };
  double const found = least_of_limits([&](double accuracy) {
    return error_of([&](double order) { return of_the_paper(order, accuracy); });
  });
  double const rounded =
      error_of([](double order) { return tabulated(gruenwald_letnikov(order)); });
  double const shared = relative_difference(x.outputs_of_retention(16), right);
  char remark[300];
  std::snprintf(remark, sizeof remark,
                "10000 tokens of random values, orders in [0.1, 1], 10 banks of 15 nodes, the best "
                "of three limits; of exact kernels, so of the rounding alone, %.2f; 16 states that "
                "all orders share, wane::retention, %.1e",
                rounded, shared);
  return {found, found <= 4e-3, shared <= 4e-3, remark};
}

finding exact_convolution() {
  constexpr double order = 0.7;
  std::mt19937_64 bits(1);
  std::vector<double> values;
  for (std::int64_t t = 0; t < length; ++t) values.push_back(2 * unit_uniform(bits) - 1);
  auto const right = causal_convolution(tabulated(gruenwald_letnikov(order)), values);
  auto const difference = [&](std::vector<double> const& kernel) {
    return relative_difference(causal_convolution(kernel, values), right);
  };
  double const found =
      least_of_limits([&](double accuracy) { return difference(of_the_paper(order, accuracy)); });
  double const closed = difference(tabulated(sum_of_terms(gruenwald_letnikov(order), length, 15)));
  double const of_all = difference(tabulated(shared_rates(15, length).sum(order)));
  char remark[240];
  std::snprintf(remark, sizeof remark,
                "no training: outputs of random values, alpha 0.7, 10000 tokens, the best of three "
                "limits; closed form of as many terms %.1e, rates that all orders share %.1e",
                closed, of_all);
  return {found, found <= 5e-3, closed <= 5e-3 && of_all <= 5e-3, remark};
}

}  // namespace

std::vector<claim> vort_output_claims() {
  return {{"vort-eq12", "VORT, equation (12)",
           "difference from outputs of the tokens' own orders, at most (Figure 4b)", 4e-3,
           routed_outputs},
          {"vort-6-exact", "VORT, section 6", "difference of S = 15 from the exact sum, at most",
           5e-3, exact_convolution}};
}

}  // namespace wane::bench
