// shared_rates: one set of rates for memories of every fractional order, weights by the order.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "wane/spectra/algebra/least_squares.hpp"
#include "wane/spectra/fit/certify.hpp"
#include "wane/spectra/fit/variable_projection.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"

namespace wane::spectra {

//   wane::spectra::shared_rates const shared(16, 4096);  // 16 rates for lags 1..4096
//   wane::spectra::exponential_sum const half = shared.sum(0.5);
//
// S rates on which the Gruenwald-Letnikov kernels of all orders in [least_alpha, 1] are sums of
// exponentials on lags 1..horizon: w_l ~ Sum_s c_s(alpha) e^{-r_s l}. The order enters only through
// the weights, which depend on it smoothly, so S states serve all orders at once. (VORT, section 3,
// has S states for each of K orders and rounds every order to one of them.) Weights minimise the
// squares of relative errors. For orders above 0.97 some are negative, down to about -0.02 where
// the fit is good to 1e-3.
class shared_rates {
 public:
  // Finds the rates by fitting nine orders at once: a few tenths of a second for 20 terms.
  shared_rates(std::int64_t terms, std::int64_t horizon, double least_alpha = 0.1)
      : horizon_(horizon), least_(least_alpha) {
    impl::require_count(terms, "terms");
    impl::require_horizon(horizon, "horizon");
    require(least_alpha >= 1e-6 && least_alpha < 1, "least_alpha is ", least_alpha,
            "; it must be at least 1e-6 and below 1");
    auto const wanted = static_cast<std::size_t>(terms);
    set_lags(log_spaced_lags(horizon, 20, 120));
    require(terms <= lags_.size() / 2, "terms is ", terms, "; ", horizon,
            " lags do not tell more than ", lags_.size() / 2, " apart");
    impl::variable_projection fit(lag_list_);
    for (int i = 0; i < orders_fitted; ++i) {
      double const part = static_cast<double>(i) / (orders_fitted - 1);
      std::vector<double> const values =
          values_at(gruenwald_letnikov(std::min(1.0, least_ + part * (1 - least_))), lag_list_);
      fit.add(values, values);
    }
    // Starts with rates even in the logarithm from a little below 1/T to 2, and adds more step by
    // step.
    double const slowest = -std::log(static_cast<double>(horizon)) - 1, fastest = 0.7;
    std::vector<double> log_rates{(3 * slowest + fastest) / 4, (slowest + 3 * fastest) / 4};
    for (std::size_t count = std::min<std::size_t>(wanted, 4);;
         count = std::min(wanted, count + std::max<std::size_t>(1, count / 4))) {
      log_rates = fit.improved(impl::spread(log_rates, count), 1e-4);
      if (count == wanted) break;
    }
    std::sort(log_rates.begin(), log_rates.end());
    for (double u : log_rates) rates_.push_back(std::exp(u));
  }

  std::vector<double> const& rates() const& { return rates_; }  // slowest first
  std::vector<double> rates() && { return std::move(rates_); }
  std::int64_t horizon() const { return horizon_; }
  double least_alpha() const { return least_; }

  struct weights_of_order {
    std::vector<double> weights, slopes;  // c_s and dc_s/dalpha
  };
  // Solves one least squares problem, in about 0.1 ms.
  weights_of_order at(double alpha) const {
    require(alpha >= least_ && alpha <= 1, "alpha is ", alpha, "; these rates are for [", least_,
            ", 1]");
    gruenwald_letnikov const kernel(alpha);
    Eigen::Index const rows = lags_.size(), count = static_cast<Eigen::Index>(rates_.size());
    Eigen::VectorXd values(rows), growth(rows);  // w, and d log w/dalpha
    for (Eigen::Index i = 0; i < rows; ++i) {
      std::int64_t const lag = lag_list_[static_cast<std::size_t>(i)];
      values(i) = kernel(lag);
      growth(i) = kernel.derivative(lag) / values(i);
    }
    Eigen::Map<Eigen::VectorXd const> const rates(rates_.data(), count);
    Eigen::MatrixXd const basis =
        ((-lags_ * rates.transpose()).array().exp().colwise() / values.array()).matrix();
    impl::least_squares const fit(basis);
    // basis c = 1 in least squares; basis' = -growth basis, so that c' solves another such problem.
    Eigen::VectorXd const c = fit.solve(Eigen::VectorXd::Ones(rows));
    Eigen::VectorXd const fitted = basis * c;
    Eigen::VectorXd const slope =
        fit.solve((growth.array() * (2 * fitted.array() - 1)).matrix().eval());
    return {{c.data(), c.data() + count}, {slope.data(), slope.data() + count}};
  }

  // The sum for one order, certified.
  exponential_sum sum(double alpha) const {
    exponential_sum found{rates_, at(alpha).weights, 1, {}};
    found.error = certify(gruenwald_letnikov(alpha), found, horizon_);
    return found;
  }

 private:
  static constexpr int orders_fitted = 9;

  void set_lags(std::vector<std::int64_t> lags) {
    lag_list_ = std::move(lags);
    lags_.resize(static_cast<Eigen::Index>(lag_list_.size()));
    for (std::size_t i = 0; i < lag_list_.size(); ++i)
      lags_(static_cast<Eigen::Index>(i)) = static_cast<double>(lag_list_[i]);
  }

  std::int64_t horizon_;
  double least_;
  std::vector<double> rates_;
  std::vector<std::int64_t> lag_list_;
  Eigen::VectorXd lags_;
};

}  // namespace wane::spectra
