// Which form describes the measured lags: a power law, one exponential, two, or a sum of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "spectra/measurement.hpp"

namespace wane::bench {

// excess(l) ~ amplitude l^-exponent, or a sum of amplitudes_k e^{-rates_k l}, all positive.
struct decay_form {
  std::string name;
  // Squares of the residuals, in units of the noise or of 5 % of the excess, for each lag that is
  // not used up by a parameter.
  double misfit = std::numeric_limits<double>::infinity();
  double exponent = 0;
  std::vector<double> rates = {};

  // The residuals are no larger than the noise, or than 5 %.
  bool describes() const { return misfit < 1; }
};

// The lags, as a problem of least squares: excess and expected deviation.
class form_fitter {
 public:
  explicit form_fitter(std::vector<measured_lag> const& used) {
    for (auto const& m : used) {
      lags_.push_back(static_cast<double>(m.lag));
      deviation_.push_back(std::hypot(m.noise(), tolerance * m.excess()));
      scaled_.push_back(m.excess() / deviation_.back());
    }
  }

  decay_form power_law() const {
    auto const misfit_of = [&](double exponent) {
      return misfit({column([=](double lag) { return std::pow(lag, -exponent); })}, 1);
    };
    decay_form found{.name = "power law"};
    found.exponent = least(-1, 8, misfit_of), found.misfit = misfit_of(found.exponent);
    return found;
  }
  decay_form one_exponential() const {
    decay_form found{.name = "one exponential"};
    double const log_rate = least(slowest(), fastest, [&](double r) { return of_rates({r}); });
    found.rates = {std::exp(log_rate)}, found.misfit = of_rates({log_rate});
    return found;
  }
  decay_form two_exponentials() const {
    decay_form found{.name = "two exponentials"};
    std::pair<double, double> best;
    double const step = (fastest - slowest()) / 40;
    for (double a = slowest(); a < fastest; a += step)
      for (double b = a + step; b <= fastest; b += step) take(found, best, a, b);
    for (double move = step / 2; move > 1e-4; move /= 2)
      for (int round = 0; round < 8; ++round) {
        auto const [a, b] = best;
        for (double da : {-move, 0., move})
          for (double db : {-move, 0., move})
            if (a + da < b + db) take(found, best, a + da, b + db);
      }
    found.rates = {std::exp(best.first), std::exp(best.second)};
    return found;
  }
  // The best sum of any positive exponentials on a grid of rates, by multiplicative updates.
  decay_form sum_of_exponentials() const {
    decay_form found{.name = "sum of exponentials"};
    std::vector<std::vector<double>> columns;
    double const step = (fastest - slowest()) / 60;
    for (double r = slowest(); r <= fastest; r += step) columns.push_back(of_rate(r));
    std::vector<double> weights(columns.size());
    for (std::size_t k = 0; k < columns.size(); ++k)
      weights[k] = dot(scaled_, scaled_) / (dot(columns[k], scaled_) * double(columns.size()));
    std::vector<double> sum;
    for (int round = 0; round < 3000; ++round) {
      sum.assign(scaled_.size(), 0);
      for (std::size_t k = 0; k < columns.size(); ++k)
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weights[k] * columns[k][i];
      for (std::size_t k = 0; k < columns.size(); ++k)
        weights[k] *= dot(columns[k], scaled_) / dot(columns[k], sum);
    }
    double squares = 0;
    for (std::size_t i = 0; i < sum.size(); ++i)
      squares += (scaled_[i] - sum[i]) * (scaled_[i] - sum[i]);
    found.misfit = squares / left(parameters_of_sum);
    return found;
  }

 private:
  static constexpr double tolerance = 0.05, fastest = 2;  // the log of 7.4 a step
  static constexpr double parameters_of_sum = 6;          // counted as three exponentials

  double slowest() const { return std::log(0.1 / lags_.back()); }
  double left(double parameters) const {
    return std::max(1., static_cast<double>(lags_.size()) - parameters);
  }
  std::vector<double> column(auto const& of) const {
    std::vector<double> values;
    for (std::size_t i = 0; i < lags_.size(); ++i) values.push_back(of(lags_[i]) / deviation_[i]);
    return values;
  }
  std::vector<double> of_rate(double log_rate) const {
    double const rate = std::exp(log_rate);
    return column([=](double lag) { return std::exp(-rate * (lag - 1)); });
  }
  static double dot(std::vector<double> const& a, std::vector<double> const& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }
  double of_rates(std::vector<double> const& log_rates) const {
    std::vector<std::vector<double>> columns;
    for (double const r : log_rates) columns.push_back(of_rate(r));
    return misfit(columns, static_cast<double>(log_rates.size()));
  }
  // With the best amplitudes of one or two columns; infinite where one of two is not positive.
  double misfit(std::vector<std::vector<double>> const& columns, double shapes) const {
    constexpr double never = std::numeric_limits<double>::infinity();
    auto const& a = columns.front();
    auto const& b = columns.back();
    double const aa = dot(a, a), ay = dot(a, scaled_), yy = dot(scaled_, scaled_);
    double squares = yy - ay * ay / aa;
    if (columns.size() == 2) {
      double const ab = dot(a, b), bb = dot(b, b), by = dot(b, scaled_);
      double const area = aa * bb - ab * ab;
      double const x = (ay * bb - by * ab) / area, y = (by * aa - ay * ab) / area;
      if (!(x > 0 && y > 0)) return never;
      squares = yy - x * ay - y * by;
    }
    return std::max(0., squares) / left(shapes + static_cast<double>(columns.size()));
  }
  void take(decay_form& found, std::pair<double, double>& best, double a, double b) const {
    double const error = of_rates({a, b});
    if (error < found.misfit) found.misfit = error, best = {a, b};
  }
  // Where f is least: the best of 200 points, and then golden sections around it.
  static double least(double low, double high, auto const& f) {
    double const step = (high - low) / 200;
    double best = low, value = f(low);
    for (double x = low + step; x <= high; x += step)
      if (double const here = f(x); here < value) best = x, value = here;
    double a = best - step, b = best + step;
    for (int i = 0; i < 60; ++i) {
      double const c = b - (b - a) * 0.6180339887498949, d = a + (b - a) * 0.6180339887498949;
      (f(c) < f(d) ? b : a) = f(c) < f(d) ? d : c;
    }
    return (a + b) / 2;
  }

  std::vector<double> lags_, deviation_, scaled_;
};

// From few parameters to many.
inline std::vector<decay_form> decay_forms(std::vector<measured_lag> const& used) {
  form_fitter const fitter(used);
  return {fitter.power_law(), fitter.one_exponential(), fitter.two_exponentials(),
          fitter.sum_of_exponentials()};
}

// The form with the fewest parameters that describes the lags; of power law and one exponential the
// better. nullptr where none does.
inline decay_form const* simplest(std::vector<decay_form> const& forms) {
  auto const& law = forms[0];
  auto const& one = forms[1];
  if (law.describes() || one.describes()) return law.misfit <= one.misfit ? &law : &one;
  for (auto const& form : forms)
    if (form.describes()) return &form;
  return nullptr;
}

}  // namespace wane::bench
