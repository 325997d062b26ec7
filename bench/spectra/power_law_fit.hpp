// A power law through the measured lags that rise above the noise, with a confidence interval.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/input.hpp"
#include "spectra/measurement.hpp"

namespace wane::bench {

// excess(l) ~ amplitude l^-exponent; 95 % of intervals [low, high] hold the exponent.
struct power_law_fit {
  double exponent = 0;
  double low = 0;
  double high = 0;
  double amplitude = 0;
  double sampling_error = 0;  // standard error from the blocks: for other data
  double misfit_error = 0;    // standard error from the residuals: for other lags
  std::int64_t first_lag = 0;
  std::int64_t last_lag = 0;
  std::size_t lags_used = 0;  // of those in between
};

struct log_point {
  double x;         // log lag
  double y;         // log excess
  double variance;  // of y, from the noise
};

struct line {
  double slope = 0;
  double intercept = 0;
  std::vector<double> slope_weights;  // slope = Sum slope_weights_i y_i
};

// Least squares with weights 1 / (variance_i + spread).
inline line fit_line(std::span<log_point const> points, double spread) {
  double sum = 0, x = 0, y = 0, squares = 0;
  for (auto const& p : points) {
    double const w = 1 / (p.variance + spread);
    sum += w;
    x += w * p.x;
    y += w * p.y;
  }
  x /= sum;
  y /= sum;
  for (auto const& p : points) squares += (p.x - x) * (p.x - x) / (p.variance + spread);
  line result;
  for (auto const& p : points) {
    result.slope_weights.push_back((p.x - x) / (p.variance + spread) / squares);
    result.slope += result.slope_weights.back() * p.y;
  }
  result.intercept = y - result.slope * x;
  return result;
}

inline double residual_of(line const& fit, log_point const& p) {
  return p.y - fit.intercept - fit.slope * p.x;
}

// No real kernel is exactly a power law, and the noise at short lags is tiny. Weights from the
// noise alone would let three lags decide the fit. `spread` is the variance of the kernel around
// the law for which the weighted squared residuals have their expected sum (Paule and Mandel 1982).
inline double spread_around_law(std::span<log_point const> points) {
  auto const surplus = [&](double spread) {
    line const fit = fit_line(points, spread);
    double sum = -static_cast<double>(points.size()) + 2;
    for (auto const& p : points) {
      sum += residual_of(fit, p) * residual_of(fit, p) / (p.variance + spread);
    }
    return sum;
  };
  double low = -30, high = 10;  // log of the spread
  if (surplus(std::exp(low)) <= 0) return std::exp(low);
  for (int i = 0; i < 60; ++i) {
    double const middle = (low + high) / 2;
    (surplus(std::exp(middle)) > 0 ? low : high) = middle;
  }
  return std::exp(high);
}

// Standard error of the slope from the residuals. Residuals of neighbouring lags are correlated
// (Newey and West 1987). The factor n / (n - 2) accounts for the two fitted parameters.
inline double misfit_error(std::span<log_point const> points, line const& fit) {
  auto const n = points.size();
  auto const reach = 1 + static_cast<std::size_t>(std::sqrt(static_cast<double>(n)) / 2);
  std::vector<double> score(n);
  for (std::size_t i = 0; i < n; ++i) {
    score[i] = fit.slope_weights[i] * residual_of(fit, points[i]);
  }
  double sum = 0;
  for (std::size_t apart = 0; apart <= std::min(reach, n - 1); ++apart) {
    double const taper = 1 - static_cast<double>(apart) / static_cast<double>(reach + 1);
    for (std::size_t i = 0; i + apart < n; ++i) {
      sum += (apart == 0 ? 1 : 2) * taper * score[i] * score[i + apart];
    }
  }
  return std::sqrt(std::max(0.0, sum) * static_cast<double>(n) / static_cast<double>(n - 2));
}

// Standard error of the slope from leaving out each block of the data in turn, to first order in
// the change of the estimates. It includes noise that lags share. Blocks of data whose correlation
// goes as l^-memory are not independent: the variance of their mean falls as blocks^-memory, not as
// 1 / blocks, when memory < 1.
inline double sampling_error(std::span<measured_lag const> used, line const& fit, double memory) {
  std::array<double, blocks> slope{};
  double mean = 0, sum = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t i = 0; i < used.size(); ++i) {
      slope[b] += fit.slope_weights[i] * (used[i].without[b] - used[i].estimate) / used[i].excess();
    }
    mean += slope[b] / blocks;
  }
  for (double const s : slope) sum += (s - mean) * (s - mean);
  double const dependent = std::pow(blocks, 1 - std::clamp(memory, 0.0, 1.0));
  return std::sqrt(dependent * sum * (blocks - 1) / blocks);
}

// Fits the lags seen from `first` on. The interval is the exponent -+ 2.093 standard errors
// (Student, 19 degrees of freedom, as there are 20 blocks). The standard error is the larger of
// sampling_error and misfit_error.
inline power_law_fit fit_power_law(measurement const& data, std::int64_t first = 1) {
  constexpr std::size_t fewest = 4;
  auto const used = lags_seen(data.lags, first);
  if (used.size() < fewest) {
    throw input_error("the " + data.quantity + " rises above its noise at " +
                      std::to_string(used.size()) + " of the lags measured" +
                      (first > 1 ? " from " + std::to_string(first) + " on" : "") +
                      "; a power law needs " + std::to_string(fewest) +
                      ": give more data, or data with a longer memory");
  }
  std::vector<log_point> points;
  for (auto const& m : used) {
    points.push_back({std::log(static_cast<double>(m.lag)), std::log(m.excess()),
                      std::pow(m.noise() / m.excess(), 2)});
  }
  line const fit = fit_line(points, spread_around_law(points));
  power_law_fit result{
      .exponent = -fit.slope,
      .amplitude = std::exp(fit.intercept),
      .sampling_error = sampling_error(used, fit, -fit.slope * data.correlation_power),
      .misfit_error = misfit_error(points, fit),
      .first_lag = used.front().lag,
      .last_lag = used.back().lag,
      .lags_used = used.size()};
  double const reach = student_95 * std::max(result.sampling_error, result.misfit_error);
  result.low = result.exponent - reach;
  result.high = result.exponent + reach;
  return result;
}

}  // namespace wane::bench
