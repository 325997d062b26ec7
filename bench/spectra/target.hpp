// The target that spectra are fitted to on lags 1..T: a kernel in closed form or a measured one.
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
#include "wane/spectra/fit/kernels.hpp"
#include "wane/spectra/fit/sampled_sum.hpp"
#include "wane/spectra/fit/sum_of_exponentials.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"

namespace wane::bench {

// A way to find the fewest exponentials of an accuracy.
struct sum_construction {
  std::string name;
  std::function<spectra::exponential_sum(double accuracy, spectra::metric)> sum_to;
};

struct target {
  std::string name;
  std::int64_t horizon = 0;                    // steps
  std::function<double(std::int64_t)> kernel;  // positive on lags 1..horizon
  std::vector<sum_construction> constructions;
  // Where the kernel is known in closed form: the best exponentials of so many terms.
  std::function<spectra::exponential_sum(std::int64_t terms, spectra::metric)> sum_of = {};
};

template <class Kernel>
target target_of(std::string const& name, std::int64_t horizon, Kernel const& kernel) {
  using spectra::construction;
  auto const built = [=](construction how) {
    return [=](double accuracy, spectra::metric measured) {
      return spectra::sum_of_accuracy(kernel, horizon, accuracy,
                                      {.measured = measured, .built = how});
    };
  };
  return {.name = name,
          .horizon = horizon,
          .kernel = kernel,
          .constructions = {{"closed-form", built(construction::closed_form)},
                            {"minimax", built(construction::minimax)}},
          .sum_of = [=](std::int64_t terms, spectra::metric measured) {
            return spectra::sum_of_terms(kernel, horizon, terms,
                                         {.measured = measured, .built = construction::minimax});
          }};
}

inline target power_target(double beta, std::int64_t horizon) {
  return target_of("power law l^-" + short_number(beta), horizon, spectra::power_law(beta));
}

inline target gruenwald_letnikov_target(double alpha, std::int64_t horizon) {
  return target_of("Gruenwald-Letnikov kernel of order " + short_number(alpha), horizon,
                   spectra::gruenwald_letnikov(alpha));
}

// The excess over the baseline at the lags seen, scaled to 1 at the first of them. Between them it
// is linear on log axes; before the first it is constant. With the points alone, as many channels
// as points would fit all of them and the error would have no meaning.
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

// The horizon is the last lag seen. Sums of exponentials approximate the lags seen only.
inline target measured_target(measurement const& data) {
  auto const used = lags_seen(data.lags);
  spectra::sampled_kernel samples;
  for (auto const& m : used) {
    samples.lags.push_back(m.lag);
    samples.values.push_back(m.excess() / used.front().excess());
  }
  auto const sum_to = [=](double accuracy, spectra::metric measured) {
    return spectra::sum_of_accuracy(samples, accuracy, {.measured = measured});
  };
  return {.name = data.quantity,
          .horizon = used.back().lag,
          .kernel = measured_kernel(used),
          .constructions = {{"samples", sum_to}}};
}

}  // namespace wane::bench
