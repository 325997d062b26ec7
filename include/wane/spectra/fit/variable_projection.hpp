// variable_projection: rates with which one or several kernels are fitted in least squares.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/spectra/algebra/least_squares.hpp"
#include "wane/spectra/fit/kernels.hpp"

namespace wane::spectra::impl {

// `count` log rates distributed like the given ones.
inline std::vector<double> spread(std::vector<double> const& log_rates, std::size_t count) {
  std::vector<double> to;
  auto const last = static_cast<double>(log_rates.size() - 1);
  for (std::size_t i = 0; i < count; ++i) {
    double const x = (static_cast<double>(i) + 0.5) / static_cast<double>(count) * (last + 1) - 0.5;
    double const at = std::clamp(std::floor(x), 0.0, std::max(0.0, last - 1));
    double const low = log_rates[static_cast<std::size_t>(at)];
    double const high = log_rates[static_cast<std::size_t>(std::min(at + 1, last))];
    to.push_back(low + (x - at) * (high - low));
  }
  return to;
}

// Minimises Sum |target - basis weights|^2 over the log rates; the weights of each target solve a
// least squares problem of their own (Golub and Pereyra 1973). Takes Levenberg-Marquardt steps with
// Kaufman's Jacobian. (A search over rates and weights together stalls.) A target is given by its
// values on the lags and by the scales that divide the errors there.
class variable_projection {
 public:
  explicit variable_projection(std::vector<std::int64_t> const& lags)
      : lags_(static_cast<Eigen::Index>(lags.size())) {
    for (std::size_t i = 0; i < lags.size(); ++i)
      lags_(static_cast<Eigen::Index>(i)) = static_cast<double>(lags[i]);
  }

  void add(std::vector<double> const& values, std::vector<double> const& scales) {
    Eigen::VectorXd const inverse = as_vector(scales).cwiseInverse();
    targets_.push_back({as_vector(values).cwiseProduct(inverse), inverse});
  }

  // Improves the log rates until a step would gain less than the part `precision` of the sum of
  // squares.
  std::vector<double> improved(std::vector<double> const& from, double precision = 1e-3) {
    Eigen::VectorXd log_rates = as_vector(from);
    double size = evaluate(log_rates, true), growth = 2;
    double damping = 1e-4 * normal_.diagonal().maxCoeff();
    for (int i = 0; i < most_steps; ++i) {
      Eigen::MatrixXd damped = normal_;
      damped.diagonal().array() += damping;
      Eigen::VectorXd const step = least_squares(damped).solve(-slope_);
      double const promised = step.dot(damping * step - slope_);
      if (!(promised > precision * size)) break;
      Eigen::VectorXd const next = log_rates + step;
      double const gain = (size - evaluate(next, false)) / promised;
      if (gain > 0) {  // damping by Nielsen's rule (1999)
        log_rates = next;
        size = evaluate(log_rates, true);
        damping *= std::max(1.0 / 3, 1 - std::pow(2 * gain - 1, 3));
        growth = 2;
      } else {
        damping *= growth;
        growth *= 2;
      }
    }
    return {log_rates.data(), log_rates.data() + log_rates.size()};
  }

  // The weights of one target.
  Eigen::VectorXd weights(std::vector<double> const& log_rates, std::size_t which) const {
    target const& of = targets_[which];
    return least_squares(basis(as_vector(log_rates).array().exp(), of)).solve(of.values);
  }

 private:
  static constexpr int most_steps = 200;
  static Eigen::Map<Eigen::VectorXd const> as_vector(std::vector<double> const& x) {
    return {x.data(), static_cast<Eigen::Index>(x.size())};
  }
  struct target {
    Eigen::VectorXd values, scales;
  };

  Eigen::MatrixXd basis(Eigen::VectorXd const& rates, target const& of) const {
    return ((-lags_ * rates.transpose()).array().exp().colwise() * of.scales.array()).matrix();
  }

  // The sum of squares; with `slopes` also the normal matrix and the gradient of a step.
  double evaluate(Eigen::VectorXd const& log_rates, bool slopes) {
    Eigen::VectorXd const rates = log_rates.array().exp();
    double size = 0;
    if (slopes) normal_.setZero(rates.size(), rates.size()), slope_.setZero(rates.size());
    for (target const& of : targets_) {
      Eigen::MatrixXd const columns = basis(rates, of);
      least_squares const fit(columns);
      Eigen::VectorXd const weights = fit.solve(of.values);
      Eigen::VectorXd const rest = of.values - columns * weights;
      size += rest.squaredNorm();
      if (!slopes) continue;
      // The derivative of the rest by the log rates, outside the span of the basis.
      Eigen::MatrixXd change(columns.rows(), columns.cols());
      for (Eigen::Index i = 0; i < change.cols(); ++i)
        change.col(i) = fit.outside(rates(i) * weights(i) * columns.col(i).cwiseProduct(lags_));
      normal_ += change.transpose().lazyProduct(change);
      slope_ += change.transpose() * fit.outside(rest);
    }
    return size;
  }

  Eigen::VectorXd lags_;
  std::vector<target> targets_;
  Eigen::MatrixXd normal_;
  Eigen::VectorXd slope_;
};

}  // namespace wane::spectra::impl
