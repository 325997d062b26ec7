// The claims of VORT (arXiv 2605.08966) about its banks of fixed orders: section 3, Theorem 4.1.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "claims/claim.hpp"
#include "claims/random_tokens.hpp"
#include "wane/spectra/fit/lags.hpp"
#include "wane/spectra/fit/sum_of_exponentials.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"
#include "wane/spectra/orders/kernel_bounds.hpp"
#include "wane/spectra/orders/order_banks.hpp"
#include "wane/spectra/orders/quadrature_sums.hpp"
#include "wane/spectra/orders/shared_rates.hpp"

namespace wane::bench {
namespace {

using namespace spectra;

constexpr double least = least_order;
constexpr std::int64_t near = 1000, far = 1000000;

// Orders evenly from `from` to 1.
std::vector<double> orders(int count, double from = least) { return covering_orders(count, from); }
std::vector<double> bank_orders(int banks) { return vort_orders(banks, least); }

// The largest relative error of approximation(order)(lag) on lags 1..horizon.
template <class Approximation>
double kernel_error(std::vector<double> const& of_orders, std::int64_t horizon,
                    Approximation const& approximation) {
  auto const lags = log_spaced_lags(horizon, 10, 60);
  double worst = 0;
  for (double order : of_orders) {
    gruenwald_letnikov const w(order);
    auto const other = approximation(order);
    for (std::int64_t lag : lags) worst = std::max(worst, std::abs(other(lag) / w(lag) - 1));
  }
  return worst;
}
double error_of_rounding(std::vector<double> const& of_orders, std::vector<double> const& banks,
                         std::int64_t horizon) {
  return kernel_error(of_orders, horizon,
                      [&](double order) { return gruenwald_letnikov(nearest(banks, order)); });
}
double error_of_shared_rates(std::int64_t terms, std::int64_t horizon) {
  shared_rates const shared(terms, horizon, least);
  return kernel_error(orders(100), horizon, [&](double order) {
    return exponential_sum{shared.rates(), shared.at(order).weights, 1, {}};
  });
}

// The bound (18) of ten banks over the kernel, at lag t.
double relative_bound(double t) {
  double largest = 0;
  for (double order : orders(1001)) {
    double const bank = nearest(bank_orders(10), order);
    double const kernel = std::pow(t, order - 1) / std::tgamma(order);
    largest = std::max(
        largest,
        quantisation_bound(std::min(order, bank), std::max(order, bank), t, least) / kernel);
  }
  return largest;
}
finding rounded_kernels() {
  auto const banks = bank_orders(10);
  auto const all = orders(1001), above = orders(801, banks[0]);
  double const found = error_of_rounding(all, banks, far);
  double const shared = error_of_shared_rates(16, far);
  char remark[300];
  std::snprintf(
      remark, sizeof remark,
      "delta 0.1, orders to 1, exact kernels; to lag 1e3 %.2f, where (18) has %.2f; of "
      "orders from alpha_1 on %.2f and %.2f; 16 rates that all orders share: %.1e and, to "
      "lag 1e3, %.1e",
      error_of_rounding(all, banks, near), relative_bound(near),
      error_of_rounding(above, banks, far), error_of_rounding(above, banks, near), shared,
      error_of_shared_rates(16, near));
  return {found, found <= relative_bound(far) && shared < 1e-3, false, remark};
}

double farthest(std::vector<double> const& banks, std::vector<double> const& of_orders) {
  double worst = 0;
  for (double order : of_orders) worst = std::max(worst, std::abs(order - nearest(banks, order)));
  return worst;
}
// "The uniform grid with spacing 1/K", to which the nearest is then within half of that.
finding distance_to_a_bank() {
  auto const banks = bank_orders(10);
  auto middle = banks;  // of K equal parts
  for (double& order : middle) order -= (1 - least) / 20;
  auto const all = orders(1801);
  double const found = farthest(banks, all), centred = farthest(middle, all);
  char remark[300];
  std::snprintf(
      remark, sizeof remark,
      "delta 0.1, K 10: the spacing is (1-delta)/K, and orders below alpha_1 have no bank "
      "on their other side; at k - 1/2 in place of k it is %.3f, and the error of kernels "
      "to lag 1e6 is %.2f in place of %.2f",
      centred, error_of_rounding(orders(1001), middle, far),
      error_of_rounding(orders(1001), banks, far));
  return {found, found <= 0.05, centred <= 0.05, remark};
}

// Orders between two banks, each taking its part of the write: K + 1 banks, the first at delta.
class between_banks {
 public:
  between_banks(int banks, double order) : below_(order), above_(order) {
    double const place = (order - least) / (1 - least) * banks;
    double const k = std::min(std::floor(place), banks - 1.0);
    auto const bank = [&](double n) { return std::min(1.0, least + (1 - least) * n / banks); };
    below_ = gruenwald_letnikov(bank(k)), above_ = gruenwald_letnikov(bank(k + 1));
    part_ = place - k;
  }
  double operator()(std::int64_t lag) const {
    return (1 - part_) * below_(lag) + part_ * above_(lag);
  }

 private:
  gruenwald_letnikov below_, above_;
  double part_;
};
double error_between(int banks, std::int64_t horizon) {
  return kernel_error(orders(1001), horizon,
                      [&](double order) { return between_banks(banks, order); });
}
finding order_of_convergence() {
  constexpr int few = 40, many = 160;
  auto const power = [](double of_few, double of_many) {
    return std::log(of_few / of_many) / std::log(double(many) / few);
  };
  auto const rounded = [](int banks) {
    return error_of_rounding(orders(1001), bank_orders(banks), near);
  };
  double const found = power(rounded(few), rounded(many));
  double const linear = power(error_between(few, near), error_between(many, near));
  char remark[300];
  std::snprintf(
      remark, sizeof remark,
      "40 to 160 banks, relative, lags to 1e3; a write shared by the two banks beside its "
      "order has %.2f, but with 10 banks is still off by %.2f, and by %.2f to lag 1e6",
      linear, error_between(10, near), error_between(10, far));
  return {found, std::abs(found - 1) < 0.1 && std::abs(linear - 2) < 0.1, false, remark};
}

// Equation (6) for the last bank, alpha_K = 1: 1/Gamma(1-alpha) is 0 there.
finding last_bank() {
  gruenwald_letnikov const w(1);
  double const found = gauss_legendre_sum(w, 15, vort_range(near, 1e-3))(near);
  auto const all = sum_of_terms(w, near, 15);
  return {found, std::abs(found - 1) < 1e-2, std::abs(all(near) - 1) < 1e-12,
          "order 1, 15 nodes, lag 1000: the density is 0 at every rate; one term of rate 0 has it "
          "all"};
}

}  // namespace

std::vector<claim> vort_bank_claims() {
  return {{"vort-4.1-kernel", "VORT, Theorem 4.1",
           "relative error of 10 banks, lags to 1e6, by (18) at most", relative_bound(far),
           rounded_kernels},
          {"vort-4.1-grid", "VORT, Theorem 4.1", "distance to the nearest of K banks, 1/(2K)", 0.05,
           distance_to_a_bank},
          {"vort-4.1-power", "VORT, Theorem 4.1", "power of 1/K that the error falls with", 1,
           order_of_convergence},
          {"vort-eq6", "VORT, equation (6)", "weight of the last bank, alpha_K = 1, over w_l", 1,
           last_bank}};
}

}  // namespace wane::bench
