// Target kernels: the wanted weight of a memory at each lag, and the power law l^{-beta}.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/checks.hpp"

namespace wane::spectra {

//   auto const found = wane::spectra::fit(rates, [](auto l) { return 1. / double(l); }, 4096);
//
// A function from a lag, in steps, to a number.
template <class Kernel>
concept target_kernel = requires(Kernel const& kernel, std::int64_t lag) {
  { kernel(lag) } -> std::convertible_to<double>;
};

//   wane::spectra::power_law const kernel(0.5);
//   double const weight = kernel(100);  // 0.1
//
// l^{-beta} on lags l >= 1. Throws wane::error unless beta is positive and finite.
class power_law {
 public:
  explicit power_law(double beta) : beta_of_kernel(beta) { impl::require_positive(beta, "beta"); }

  double beta() const { return beta_of_kernel; }

  double operator()(std::int64_t lag) const {
    require(lag >= 1, "lag is ", lag, "; a power law is defined on lags of at least 1");
    return std::pow(static_cast<double>(lag), -beta_of_kernel);
  }

  // The weight of the current token. The law has no value at lag 0; memories take 0.
  double at_zero() const { return 0; }

  // k_{l-1} - 2 k_l + k_{l+1} for l >= 2; from lag 1000 on by its series in 1/l, whose next term is
  // a factor of 1e-11 smaller for beta up to 10.
  double second_difference(std::int64_t lag) const {
    require(lag >= 2, "lag is ", lag, "; a power law has second differences from lag 2 on");
    double const b = beta_of_kernel, l = static_cast<double>(lag);
    if (lag < 1000) return (*this)(lag - 1) - 2 * (*this)(lag) + (*this)(lag + 1);
    double const next = (b + 2) * (b + 3) / (12 * l * l);
    double const third = (b + 4) * (b + 5) / (30 * l * l);
    return (*this)(lag) * (b / l) * ((b + 1) / l) * (1 + next * (1 + third));
  }

  // l^{-beta} = Int_0^inf density(r) e^{-rl} dr over the rates r: density = r^{beta-1}/Gamma(beta).
  double density(double rate) const {
    return std::pow(rate, beta_of_kernel - 1) / std::tgamma(beta_of_kernel);
  }
  double tail_exponent() const { return beta_of_kernel; }

 private:
  double beta_of_kernel;
};

// A kernel that is a mixture of exponentials with positive weights of known density:
// Int density(rate) e^{-rate l} d rate, about l^{-tail_exponent} at long lags. sum_of_accuracy()
// needs the density for the closed form, and second_difference(l), accurate at long lags, for the
// certificate. at_zero() is the value at lag 0.
template <class Kernel>
concept completely_monotone = target_kernel<Kernel> && requires(Kernel const& k, double rate) {
  { k.density(rate) } -> std::convertible_to<double>;
  { k.tail_exponent() } -> std::convertible_to<double>;
  { k.at_zero() } -> std::convertible_to<double>;
  { k.second_difference(std::int64_t{2}) } -> std::convertible_to<double>;
};

template <target_kernel Kernel>
std::vector<double> values_at(Kernel const& kernel, std::vector<std::int64_t> const& lags) {
  std::vector<double> values;
  values.reserve(lags.size());
  for (std::int64_t lag : lags) values.push_back(static_cast<double>(kernel(lag)));
  return values;
}

}  // namespace wane::spectra
