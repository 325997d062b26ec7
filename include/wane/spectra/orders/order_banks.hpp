// order_banks: a sum of exponentials for each of a few fixed orders, for retention (VORT).
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "wane/spectra/checks.hpp"
#include "wane/spectra/fit/exponential_sum.hpp"
#include "wane/spectra/orders/bank_table.hpp"

namespace wane::spectra {

// The orders of VORT's banks, least + (1 - least) k / K for k = 1..K. The first is a whole step
// above `least`, so orders near `least` are up to a step from a bank.
inline std::vector<double> vort_orders(std::int64_t banks, double least) {
  impl::require_count(banks, "banks");
  std::vector<double> orders;
  for (std::int64_t k = 1; k < banks; ++k)
    orders.push_back(least + (1 - least) * static_cast<double>(k) / static_cast<double>(banks));
  orders.push_back(1);
  return orders;
}

// `banks` orders spread evenly from `least` to 1: no order is farther from a bank than half a step.
inline std::vector<double> covering_orders(std::int64_t banks, double least) {
  require(banks >= 2, "banks is ", banks, "; from least to 1 it takes at least 2");
  std::vector<double> orders = vort_orders(banks - 1, least);
  orders.insert(orders.begin(), least);
  return orders;
}

enum class lag_zero {
  of_kernel,  // w_0: the direct term is w_0 - sum_s c_s, as everywhere in wane
  of_sum      // sum_s c_s, as in VORT's eq. 6 and 12: there is no direct term
};

//   using namespace wane::spectra;
//   order_banks<float> const banks(vort_orders(8, 0.1), 0.1, [](double alpha) {
//     return sum_of_terms(gruenwald_letnikov(alpha), 4096, 16);
//   });
//   wane::retention_inputs<float> const in{.value = v, .alpha = alpha};
//   wane::retention const memory(in, banks.table(routing::linear));
//
// Banks of fixed orders, each a sum of exponentials. Their states lie in one memory, the lowest
// order first: K banks of S nodes take K S rows.
template <class T>
class order_banks {
 public:
  // sum_of(alpha) gives the exponential_sum of a bank; vort_sum gives VORT's own. Orders of tokens
  // are in [least, 1]. Throws wane::error for orders that do not rise or are not in [least, 1], and
  // for sums that are empty.
  template <class SumOf>
  order_banks(std::vector<double> const& orders, double least, SumOf const& sum_of,
              lag_zero at_zero = lag_zero::of_kernel)
      : least_(least) {
    require(least > 0 && least < 1, "least is ", least, "; it must be in (0, 1)");
    require(!orders.empty(), "orders is empty; there must be at least one bank");
    std::vector<exponential_sum> sums;
    for (std::size_t k = 0; k < orders.size(); ++k) {
      double const alpha = orders[k], floor = k ? orders[k - 1] : least;
      require((k ? alpha > floor : alpha >= floor) && alpha <= 1, "orders[", k, "] is ", alpha,
              "; orders must rise, from ", least, " to 1 at most");
      sums.push_back(sum_of(alpha));
      exponential_sum const& sum = sums.back();
      require(sum.terms() > 0 && sum.weights.size() == sum.terms(), "the sum for order ", alpha,
              " has ", sum.terms(), " rates and ", sum.weights.size(),
              " weights; there must be as many of both, and at least one");
      orders_.push_back(static_cast<T>(alpha));
      for (double r : sum.rates) log_decay_.push_back(static_cast<T>(-r));
    }
    std::size_t const row = log_decay_.size() + 1;
    weights_.resize(orders.size() * row);
    std::size_t first = 0;
    for (std::size_t k = 0; k < sums.size(); first += sums[k++].terms()) {
      T* const bank = weights_.data() + k * row;
      std::transform(sums[k].weights.begin(), sums[k].weights.end(), bank + first,
                     [](double c) { return static_cast<T>(c); });
      if (at_zero == lag_zero::of_kernel) bank[row - 1] = static_cast<T>(sums[k].feed_through());
    }
  }

  // A view; valid as long as this object.
  bank_table<T> table(routing routed) const& {
    auto const banks = static_cast<index>(orders_.size());
    auto const nodes = static_cast<index>(log_decay_.size());
    return {static_cast<T>(least_),
            routed,
            {orders_.data(), banks},
            {log_decay_.data(), 1, 1, 1, nodes},
            {weights_.data(), banks, 1, 1, nodes + 1}};
  }
  bank_table<T> table(routing) && = delete;

 private:
  double least_;
  std::vector<T> orders_, log_decay_, weights_;
};

}  // namespace wane::spectra
