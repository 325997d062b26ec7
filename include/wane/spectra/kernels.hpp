// Target kernels: a memory's wanted weight on each lag, and the power law l^{-beta}.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <vector>

#include "wane/core/error.hpp"
#include "wane/spectra/checks.hpp"

namespace wane::spectra {

// Anything that answers a lag, in steps, with a number.
template <class Kernel>
concept target_kernel = requires(Kernel const& kernel, std::int64_t lag) {
  { kernel(lag) } -> std::convertible_to<double>;
};

// l^{-beta} on lags l >= 1.
class power_law {
 public:
  explicit power_law(double beta) : beta_of_kernel(beta) { require_positive(beta, "beta"); }

  double beta() const { return beta_of_kernel; }

  double operator()(std::int64_t lag) const {
    require(lag >= 1, "lag is ", lag, "; a power law is defined on lags of at least 1");
    return std::pow(static_cast<double>(lag), -beta_of_kernel);
  }

 private:
  double beta_of_kernel;
};

template <target_kernel Kernel>
std::vector<double> values_at(Kernel const& kernel, std::vector<std::int64_t> const& lags) {
  std::vector<double> values;
  values.reserve(lags.size());
  for (std::int64_t lag : lags) values.push_back(static_cast<double>(kernel(lag)));
  return values;
}

}  // namespace wane::spectra
