// What spectra are fitted to on every lag 1..T: a kernel in closed form, or one that was measured.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "shared/number_text.hpp"
#include "spectra/measurement.hpp"
#include "wane/spectra/gruenwald_letnikov.hpp"
#include "wane/spectra/kernels.hpp"
#include "wane/spectra/sum_of_exponentials.hpp"

namespace wane::bench {

struct target {
  std::string name;
  std::int64_t horizon = 0;                    // steps
  std::function<double(std::int64_t)> kernel;  // positive on lags 1..horizon
  // Where the kernel is known in closed form: sums of exponentials of so many terms, or to an
  // accuracy.
  std::function<spectra::exponential_sum(std::int64_t terms, spectra::sum_options)> sum_of = {};
  std::function<spectra::exponential_sum(double accuracy, spectra::sum_options)> sum_to = {};
};

template <class Kernel>
target target_of(std::string const& name, std::int64_t horizon, Kernel const& kernel) {
  return {.name = name,
          .horizon = horizon,
          .kernel = kernel,
          .sum_of =
              [=](std::int64_t terms, spectra::sum_options how) {
                return spectra::sum_of_terms(kernel, horizon, terms, how);
              },
          .sum_to =
              [=](double accuracy, spectra::sum_options how) {
                return spectra::sum_of_accuracy(kernel, horizon, accuracy, how);
              }};
}

inline target power_target(double beta, std::int64_t horizon) {
  return target_of("power law l^-" + short_number(beta), horizon, spectra::power_law(beta));
}

inline target gruenwald_letnikov_target(double alpha, std::int64_t horizon) {
  return target_of("Gruenwald-Letnikov kernel of order " + short_number(alpha), horizon,
                   spectra::gruenwald_letnikov(alpha));
}

// The excess over the baseline at the lags seen, 1 at the first of them, and straight lines on log
// axes in between; constant before the first. With points alone, as many channels as points would
// pass through all of them and the error would say nothing.
class measured_kernel {
 public:
  explicit measured_kernel(std::vector<measured_lag> const& used) {
    for (auto const& m : used) {
      log_lags_.push_back(std::log(static_cast<double>(m.lag)));
      log_values_.push_back(std::log(m.excess() / used.front().excess()));
    }
  }

  double operator()(std::int64_t lag) const {
    double const x = std::log(static_cast<double>(lag));
    auto const next = std::upper_bound(log_lags_.begin(), log_lags_.end(), x);
    if (next == log_lags_.begin()) return std::exp(log_values_.front());
    if (next == log_lags_.end()) return std::exp(log_values_.back());
    auto const i = static_cast<std::size_t>(next - log_lags_.begin());
    double const share = (x - log_lags_[i - 1]) / (log_lags_[i] - log_lags_[i - 1]);
    return std::exp((1 - share) * log_values_[i - 1] + share * log_values_[i]);
  }

 private:
  std::vector<double> log_lags_, log_values_;
};

// Nothing is known beyond the last lag seen, so that is the horizon.
inline target measured_target(measurement const& data) {
  auto const used = lags_seen(data.lags);
  return {.name = data.quantity, .horizon = used.back().lag, .kernel = measured_kernel(used)};
}

}  // namespace wane::bench
