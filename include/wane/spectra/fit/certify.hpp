// certify: a proven bound on the error of a sum of exponentials over every lag of 1..T.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/spectra/fit/exponential_sum.hpp"
#include "wane/spectra/fit/kernels.hpp"
#include "wane/spectra/fit/lags.hpp"

namespace wane::spectra::impl {

// Bounds the error e_l of a sum against a completely monotone kernel. Between two lags a < b, e_l
// differs from the line through e_a and e_b by at most (b-a)^2/8 times the largest second
// difference there. The second difference of e is a difference of two falling sequences, so their
// values at a + 1 and b - 1 bound it. Where the bound exceeds (1 + slack) times the largest error
// seen so far, the interval is halved. Rounding in the evaluation, about 1e-15 of the kernel, is
// not bounded; errors below 1e-13 of the kernel are not told apart.
template <completely_monotone Kernel>
class certifier {
 public:
  certifier(Kernel const& kernel, exponential_sum const& sum) : kernel_(kernel), sum_(sum) {
    require(sum.weights.size() == sum.terms(), "weights has ", sum.weights.size(),
            " entries; it must have one for each of the ", sum.terms(), " rates");
    for (std::size_t s = 0; s < sum.terms(); ++s) {
      require(sum.rates[s] >= 0 && std::isfinite(sum.rates[s]), "rates[", s, "] is ", sum.rates[s],
              "; it must be finite and not negative");
      require(std::isfinite(sum.weights[s]), "weights[", s, "] is ", sum.weights[s],
              "; it must be finite");
      double const fades = std::expm1(-sum.rates[s]);
      bends_.push_back(sum.weights[s] * fades * fades);
    }
  }

  certificate operator()(std::int64_t horizon, double slack) {
    require_horizon(horizon, "horizon");
    found_ = {};
    found_.horizon = horizon;
    std::vector<sample> points;
    for (std::int64_t lag : log_spaced_lags(horizon, 8, 24 * (1 + std::int64_t(sum_.terms()))))
      points.push_back(at(lag));
    double relative = 0, absolute = 0;
    // All samples come first: the largest error among them settles most intervals at once.
    std::vector<std::pair<sample, sample>> open;
    for (std::size_t i = points.size(); i-- > 1;) open.push_back({points[i - 1], points[i]});
    while (!open.empty()) {
      auto const [a, b] = open.back();
      open.pop_back();
      if (b.lag - a.lag < 2) continue;
      double const steps = static_cast<double>(b.lag - a.lag);
      double const bound = std::max(std::abs(a.error), std::abs(b.error)) +
                           steps * steps / 8 * largest_bend(a.lag + 1, b.lag - 1);
      double const relative_bound = bound / b.value;  // the kernel falls
      if (relative_bound <= std::max((1 + slack) * found_.max_relative_error, indistinct) &&
          bound <= std::max((1 + slack) * found_.max_absolute_error, indistinct * b.value)) {
        relative = std::max(relative, relative_bound);
        absolute = std::max(absolute, bound);
      } else {
        sample const middle = at(middle_of(a.lag, b.lag));
        open.push_back({middle, b});
        open.push_back({a, middle});
      }
    }
    found_.max_relative_error = std::max(relative, found_.max_relative_error);
    found_.max_absolute_error = std::max(absolute, found_.max_absolute_error);
    return found_;
  }

 private:
  static constexpr double indistinct = 1e-13;

  struct sample {
    std::int64_t lag;
    double value, error;
  };

  sample at(std::int64_t lag) {
    double const value = kernel_(lag);
    sample const s{lag, value, sum_(lag) - value};
    ++found_.lags_evaluated;
    if (std::abs(s.error) > found_.max_absolute_error) {
      found_.max_absolute_error = std::abs(s.error);
      found_.worst_absolute_lag = lag;
    }
    if (std::abs(s.error) / value > found_.max_relative_error) {
      found_.max_relative_error = std::abs(s.error) / value;
      found_.worst_relative_lag = lag;
    }
    return s;
  }

  static std::int64_t middle_of(std::int64_t a, std::int64_t b) {
    auto const mean = static_cast<std::int64_t>(std::sqrt(static_cast<double>(a)) *
                                                std::sqrt(static_cast<double>(b)));
    return std::clamp(mean, a + 1, b - 1);
  }

  // The largest second difference of e between two lags. That of terms with positive weights falls
  // with the lag and that of others rises, so each is taken at the end where it is largest.
  double largest_bend(std::int64_t first, std::int64_t last) const {
    bend const early = bend_of_sum(first), late = first == last ? early : bend_of_sum(last);
    double const upper = early.positive + late.negative - kernel_.second_difference(last);
    double const lower = late.positive + early.negative - kernel_.second_difference(first);
    return std::max(std::abs(upper), std::abs(lower));
  }
  struct bend {
    double positive = 0, negative = 0;
  };
  bend bend_of_sum(std::int64_t lag) const {
    bend sum;
    for (std::size_t s = 0; s < sum_.terms(); ++s)
      (bends_[s] > 0 ? sum.positive : sum.negative) +=
          bends_[s] * std::exp(-sum_.rates[s] * static_cast<double>(lag - 1));
    return sum;
  }

  Kernel const& kernel_;
  exponential_sum const& sum_;
  std::vector<double> bends_;  // second differences of the terms at lag 1
  certificate found_;
};

}  // namespace wane::spectra::impl

namespace wane::spectra {

//   wane::spectra::certificate const c = wane::spectra::certify(kernel, sum, 4096);
//   bool const good = c.max_relative_error < 1e-3;
//
// Covers lags 1..horizon; weights may have any sign. The bound exceeds the true largest error by at
// most the factor 1 + slack, or by 1e-13 of the kernel. Throws wane::error for rates or weights
// that are not finite, and for negative rates.
template <completely_monotone Kernel>
certificate certify(Kernel const& kernel, exponential_sum const& sum, std::int64_t horizon,
                    double slack = 0.02) {
  return impl::certifier<Kernel>(kernel, sum)(horizon, slack);
}

}  // namespace wane::spectra
