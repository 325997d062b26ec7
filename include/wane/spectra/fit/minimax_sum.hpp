// minimax_sum: S exponentials with free rates and weights whose largest error is smallest.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "wane/spectra/algebra/gauss_rule.hpp"
#include "wane/spectra/algebra/least_squares.hpp"
#include "wane/spectra/fit/fit_error.hpp"
#include "wane/spectra/fit/kernels.hpp"
#include "wane/spectra/fit/lags.hpp"
#include "wane/spectra/fit/variable_projection.hpp"

namespace wane::spectra::impl {

// The error of a best sum of S exponentials reaches its largest size 2S + 1 times with alternating
// signs (Braess 1986). A least-squares fit is the start. Then Remez's exchange alternates two
// steps: Newton's method makes the error equally large on 2S + 1 lags, and the lags move to the
// extrema of the error. The unknowns are log rates and log weights, so that rates and weights stay
// positive.
template <target_kernel Kernel>
class minimax_sum {
 public:
  minimax_sum(Kernel const& kernel, std::int64_t horizon, metric wanted)
      : kernel_(kernel),
        wanted_(wanted),
        grid_(log_spaced_lags(horizon, 100, 1000)),
        least_squares_(lags_of_least_squares(horizon)) {
    std::vector<double> const values = values_at(kernel, lags_of_least_squares(horizon));
    least_squares_.add(
        values, wanted == metric::relative ? values : std::vector<double>(values.size(), 1.0));
  }

  // Starts from the given log rates, ascending. Returns nothing where there are fewer than 2S + 1
  // lags, where Newton's method makes no progress, or where a weight would not be positive.
  std::optional<std::vector<node>> from(std::vector<double> const& log_rates) {
    auto const count = static_cast<Eigen::Index>(log_rates.size());
    if (2 * log_rates.size() + 1 > grid_.size()) return {};
    std::vector<double> const improved = least_squares_.improved(log_rates);
    vector const weights = least_squares_.weights(improved, 0);
    log_rates_ = Eigen::Map<vector const>(improved.data(), count);
    if (!(weights.minCoeff() > 0)) return {};
    log_weights_ = weights.array().log();
    if (!exchange()) return {};
    std::vector<node> found;
    for (Eigen::Index s = 0; s < count; ++s)
      found.push_back({std::exp(log_rates_(s)), std::exp(log_weights_(s))});
    std::sort(found.begin(), found.end(), [](node a, node b) { return a.at < b.at; });
    return found;
  }

 private:
  using vector = Eigen::VectorXd;
  using matrix = Eigen::MatrixXd;

  static std::vector<std::int64_t> lags_of_least_squares(std::int64_t horizon) {
    return log_spaced_lags(horizon, 20, 120);
  }
  double scale(std::int64_t lag) const { return wanted_ == metric::relative ? kernel_(lag) : 1.0; }

  double error_at(std::int64_t lag, vector const& log_rates, vector const& log_weights) const {
    double sum = 0;
    for (Eigen::Index s = 0; s < log_rates.size(); ++s)
      sum += std::exp(log_weights(s) - std::exp(log_rates(s)) * static_cast<double>(lag));
    return (sum - kernel_(lag)) / scale(lag);
  }

  // The extrema of the error with alternating signs: 2S + 1, or fewer where there are fewer.
  std::vector<std::int64_t> extrema() const {
    std::vector<double> error;
    for (std::int64_t lag : grid_) error.push_back(error_at(lag, log_rates_, log_weights_));
    std::vector<std::size_t> best;  // the largest error of every stretch of one sign
    for (std::size_t i = 0; i < error.size(); ++i) {
      if (!best.empty() && (error[i] > 0) == (error[best.back()] > 0)) {
        if (std::abs(error[i]) > std::abs(error[best.back()])) best.back() = i;
      } else {
        best.push_back(i);
      }
    }
    auto const wanted = static_cast<std::size_t>(2 * log_rates_.size() + 1);
    while (best.size() > wanted)
      best.erase(std::abs(error[best.front()]) < std::abs(error[best.back()]) ? best.begin()
                                                                              : best.end() - 1);
    std::vector<std::int64_t> lags;
    for (std::size_t i : best) lags.push_back(summit(i, error[i] > 0 ? 1 : -1));
    return lags;
  }
  // The lag of the largest error of this sign between the neighbours of grid point i.
  std::int64_t summit(std::size_t i, double sign) const {
    std::int64_t low = grid_[i == 0 ? 0 : i - 1], high = grid_[std::min(i + 1, grid_.size() - 1)];
    auto const size = [&](std::int64_t lag) {
      return sign * error_at(lag, log_rates_, log_weights_);
    };
    while (high - low > 2) {
      std::int64_t const middle = low + (high - low) / 2;
      if (size(middle) < size(middle + 1))
        low = middle;
      else
        high = middle + 1;
    }
    std::int64_t best = low;
    for (std::int64_t lag = low + 1; lag <= high; ++lag)
      if (size(lag) > size(best)) best = lag;
    return best;
  }

  bool exchange() {
    auto const count = log_rates_.size();
    auto const wanted = static_cast<std::size_t>(2 * count + 1);
    for (int i = 0; i < 40; ++i) {
      std::vector<std::int64_t> const lags = extrema();
      if (lags.size() < wanted) return i > 0;
      double largest = 0, least = HUGE_VAL;
      for (std::int64_t lag : lags) {
        double const size = std::abs(error_at(lag, log_rates_, log_weights_));
        largest = std::max(largest, size), least = std::min(least, size);
      }
      if (largest <= 1.002 * least) return true;
      if (!level(lags)) return i > 0;
    }
    return true;
  }

  // Newton's method towards errors of equal size and alternating signs on these lags. A step is
  // halved while it would increase the difference of the sizes. Returns false where no step helps.
  bool level(std::vector<std::int64_t> const& lags) {
    auto const count = log_rates_.size();
    auto const rows = static_cast<Eigen::Index>(lags.size());
    vector const signs =
        vector::NullaryExpr(rows, [](Eigen::Index i) { return i % 2 == 0 ? 1.0 : -1.0; });
    auto const errors = [&](vector const& log_rates, vector const& log_weights) {
      vector found(rows);
      for (Eigen::Index i = 0; i < rows; ++i)
        found(i) = error_at(lags[static_cast<std::size_t>(i)], log_rates, log_weights);
      return found;
    };
    vector error = errors(log_rates_, log_weights_);
    double height = error.dot(signs) / static_cast<double>(rows);
    matrix system(rows, rows);
    system.col(2 * count) = -signs;
    for (int i = 0; i < 20; ++i) {
      vector const rest = error - height * signs;
      double const apart = rest.cwiseAbs().maxCoeff();
      if (apart < 1e-4 * std::abs(height)) return true;
      for (Eigen::Index r = 0; r < rows; ++r) {
        std::int64_t const lag = lags[static_cast<std::size_t>(r)];
        for (Eigen::Index s = 0; s < count; ++s) {
          double const exponent = std::exp(log_rates_(s)) * static_cast<double>(lag);
          double const part = std::exp(log_weights_(s) - exponent) / scale(lag);
          system(r, s) = -exponent * part;
          system(r, count + s) = part;
        }
      }
      vector const step = least_squares(system).solve(-rest);
      if (!step.allFinite()) return false;
      bool closer = false;
      for (double part = 1; part > 1e-3 && !closer; part /= 2) {
        vector const rates = log_rates_ + part * step.head(count);
        vector const weights = log_weights_ + part * step.segment(count, count);
        vector const next = errors(rates, weights);
        double const next_height = height + part * step(2 * count);
        closer = (next - next_height * signs).cwiseAbs().maxCoeff() < apart;
        if (closer) log_rates_ = rates, log_weights_ = weights, error = next, height = next_height;
      }
      if (!closer) return false;
    }
    return true;
  }

  Kernel const& kernel_;
  metric wanted_;
  std::vector<std::int64_t> grid_;
  variable_projection least_squares_;
  vector log_rates_, log_weights_;
};

}  // namespace wane::spectra::impl
