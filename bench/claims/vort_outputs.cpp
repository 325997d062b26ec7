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
#include "claims/random_tokens.hpp"
#include "wane/spectra/algebra/convolution.hpp"
#include "wane/spectra/fit/sum_of_exponentials.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"
#include "wane/spectra/orders/order_banks.hpp"
#include "wane/spectra/orders/order_weights.hpp"
#include "wane/spectra/orders/quadrature_sums.hpp"
#include "wane/spectra/orders/shared_rates.hpp"
#include "wane/spectra/rates/random.hpp"

namespace wane::bench {
namespace {

using namespace spectra;

constexpr std::int64_t length = 10000, million = 1000000;
constexpr std::int64_t nodes = 15;

// kernel(lag) on lags 0..length-1.
template <class Kernel>
std::vector<double> tabulated(Kernel const& kernel) {
  std::vector<double> values;
  for (std::int64_t lag = 0; lag < length; ++lag) values.push_back(kernel(lag));
  return values;
}
// Nodes of Gauss and Legendre as section 3 has them.
exponential_sum of_the_paper(double order, double accuracy) {
  return gauss_legendre_sum(gruenwald_letnikov(order), nodes, vort_range(length, accuracy));
}

// The least error over three limits of the paper's nodes.
template <class Error>
double least_of_limits(Error const& error) {
  return std::min({error(1e-2), error(1e-3), error(1e-4)});
}

// The results of several draws.
struct spread {
  double least = HUGE_VAL, most = 0;
  void add(double x) { least = std::min(least, x), most = std::max(most, x); }
};

// Equation (12) of ten banks, against the tokens' own orders.
struct routed_draw {
  std::vector<double> banks = vort_orders(10, least_order);
  random_tokens x;
  std::vector<double> right = x.outputs();

  explicit routed_draw(std::uint64_t seed) : x(length, seed) {}
  // Lag 0 from the same sum as the others.
  double error_of_banks() const {
    return least_of_limits([&](double accuracy) {
      auto const bank = [&](double order) { return of_the_paper(order, accuracy); };
      order_banks<double> const all(banks, least_order, bank, lag_zero::of_sum);
      return relative_difference(x.outputs_on(all.table(routing::nearest)), right);
    });
  }
  double error_of_rounding() const {
    std::vector<double> rounded;
    for (double order : x.orders) rounded.push_back(nearest(banks, order));
    return relative_difference(x.outputs(rounded), right);
  }
  double error_of_shared() const {
    order_weights<double> const weights(shared_rates(16, length, least_order));
    return relative_difference(x.outputs_on(weights.table()), right);
  }
};

finding routed_outputs() {
  routed_draw const one(1);
  double const found = one.error_of_banks(), shared = one.error_of_shared();
  spread of_banks, of_rounding;
  for (std::uint64_t seed = 2; seed <= 13; ++seed) {
    routed_draw const other(seed);
    of_banks.add(other.error_of_banks()), of_rounding.add(other.error_of_rounding());
  }
  char remark[400];
  std::snprintf(remark, sizeof remark,
                "10000 tokens of random values, orders in [0.1, 1], 10 banks of 15 nodes, the best "
                "of three limits; of exact kernels, so of the rounding alone, %.2f; 16 states that "
                "all orders share, wane::retention, %.1e; seed 1, while seeds 2 to 13 have %.2f to "
                "%.2f and, of exact kernels, %.2f to %.2f",
                one.error_of_rounding(), shared, of_banks.least, of_banks.most, of_rounding.least,
                of_rounding.most);
  return {found, found <= 4e-3, shared <= 4e-3, remark};
}

// The same for a million tokens, and for banks in closed form.
finding routed_million() {
  auto const closed = [](double order) {
    return sum_of_terms(gruenwald_letnikov(order), million, nodes);
  };
  order_banks<double> const ten(vort_orders(10, least_order), least_order, closed),
      twenty(vort_orders(20, least_order), least_order, closed);
  order_weights<double> const weights(shared_rates(16, million, least_order));
  spread shared, nearest_of_ten, linear_of_ten, nearest_of_twenty, linear_of_twenty;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    random_tokens const x(million, seed);
    auto const right = x.outputs();
    auto const error = [&](auto const& on) { return relative_difference(x.outputs_on(on), right); };
    shared.add(error(weights.table()));
    nearest_of_ten.add(error(ten.table(routing::nearest)));
    linear_of_ten.add(error(ten.table(routing::linear)));
    nearest_of_twenty.add(error(twenty.table(routing::nearest)));
    linear_of_twenty.add(error(twenty.table(routing::linear)));
  }
  char remark[400];
  std::snprintf(remark, sizeof remark,
                "a million tokens, seeds 1 to 5, the least of them; closed forms of 15 terms: 10 "
                "banks %.2f to %.2f, 20 banks %.3f to %.3f; where a write is shared by the two "
                "banks beside its order %.3f to %.3f and %.3f to %.3f; 16 states that all orders "
                "share %.1e to %.1e",
                nearest_of_ten.least, nearest_of_ten.most, nearest_of_twenty.least,
                nearest_of_twenty.most, linear_of_ten.least, linear_of_ten.most,
                linear_of_twenty.least, linear_of_twenty.most, shared.least, shared.most);
  return {nearest_of_ten.least, nearest_of_ten.least <= 4e-3, shared.most <= 4e-3, remark};
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
  double const found = least_of_limits([&](double accuracy) {
    auto const sum = of_the_paper(order, accuracy);  // lag 0 is its own
    return difference(
        tabulated([&](std::int64_t lag) { return impulse_response(sum.rates, sum.weights, lag); }));
  });
  double const closed =
      difference(tabulated(sum_of_terms(gruenwald_letnikov(order), length, nodes)));
  double const of_all = difference(tabulated(shared_rates(nodes, length).sum(order)));
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

std::vector<claim> vort_long_claims() {
  return {{"vort-eq12-million", "VORT, equation (12)",
           "difference from outputs of the tokens' own orders, at most (Figure 4b)", 4e-3,
           routed_million}};
}

}  // namespace wane::bench
