// closed_form: a sum of exponentials by the trapezoidal rule in the log rate, tails compressed.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "wane/spectra/algebra/gauss_rule.hpp"
#include "wane/spectra/checks.hpp"
#include "wane/spectra/fit/exponential_sum.hpp"
#include "wane/spectra/fit/kernels.hpp"

namespace wane::spectra::impl {

// |Gamma(x + iy)|, x > 0, by Stirling's series after eight steps; to 1e-9.
inline double size_of_gamma(double x, double y) {
  std::complex<double> z(x, y), product = 1;
  for (int i = 0; i < 8; ++i) product *= z, z += 1.0;
  auto const log = (z - 0.5) * std::log(z) - z + 1.0 / (12.0 * z) - 1.0 / (360.0 * z * z * z);
  return std::exp(log.real()) * std::sqrt(2 * std::numbers::pi) / std::abs(product);
}

// `count` exponentials that agree with the given ones on the first 2 `count` lags: a Gauss rule in
// the factor e^-rate. Rates ascend.
inline std::vector<node> rule_in_factors(std::vector<node> nodes, std::size_t count) {
  for (node& n : nodes) n.at = std::exp(-n.at), n.weight *= n.at;
  nodes = gauss_rule(nodes, count);
  for (node& n : nodes) n.weight /= n.at, n.at = -std::log(n.at);
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

// Kernel = Int rate density(rate) e^{-rate l} du over u = log rate. The trapezoidal rule sums over
// the lattice u = -log T + k h. Its aliasing error, relative to a power law of exponent b, is
// 2 |Gamma(b + 2 pi i/h)| / Gamma(b); this determines h.
//
// The lattice extends far below 1/T and far above 1, where exponentials are nearly alike on lags
// 1..T. There a few Gauss nodes replace many: below in the variable rate, since e^{-rate l} is
// nearly a polynomial; above in e^{-rate}, which keeps the first lags exact. Weights are positive.
// The work does not depend on T.
template <completely_monotone Kernel>
class closed_form {
 public:
  // `accuracy` is relative, on lags 1..horizon. The error reached is about half to twice of it.
  closed_form(Kernel const& kernel, std::int64_t horizon, double accuracy)
      : horizon_(static_cast<double>(horizon)),
        accuracy_(accuracy),
        exponent_(kernel.tail_exponent()) {
    require_horizon(horizon, "horizon");
    require(accuracy > 0 && std::isfinite(accuracy), "accuracy is ", accuracy,
            "; it must be positive and finite");
    require_positive(exponent_, "the tail exponent of the kernel");
    step_ = widest_step();
    make_lattice(kernel);
    find_scales(kernel);
  }

  // Rates, slowest first, and weights.
  std::vector<node> nodes() const {
    std::vector<node> best;
    for (std::size_t below = 1; below <= 4; ++below) {
      std::size_t const first = end_of_lower_tail(below);
      for (std::size_t above = 1; above <= 3; ++above) {
        std::size_t const last = start_of_upper_tail(above, first);
        if (!best.empty() && below + (last - first) + above >= best.size()) continue;
        best = rule_below(first, below);
        best.insert(best.end(), lattice_.begin() + std::ptrdiff_t(first),
                    lattice_.begin() + std::ptrdiff_t(last));
        auto const fast = rule_above(last, above);
        best.insert(best.end(), fast.begin(), fast.end());
      }
    }
    return best;
  }

 private:
  static constexpr double fastest = 700;  // e^-rate is nearly denormal

  double widest_step() const {
    double low = 0.05, high = 20;
    double const whole = std::tgamma(exponent_);
    for (int i = 0; i < 60; ++i) {
      double const h = (low + high) / 2;
      bool const aliases =
          2 * size_of_gamma(exponent_, 2 * std::numbers::pi / h) > 0.6 * accuracy_ * whole;
      (aliases ? high : low) = h;
    }
    return low;
  }

  // Starts where the slower rest is below e^{-23} of a node, and adds the rest to the first node;
  // ends where a node no longer matters at lag 1.
  void make_lattice(Kernel const& kernel) {
    auto const lowest = -static_cast<int>(std::ceil((23 + 7) / step_));
    double last_seen = 0;
    for (int k = lowest;; ++k) {
      double const rate = std::exp(-std::log(horizon_) + k * step_);
      double weight = step_ * rate * kernel.density(rate);
      if (k == lowest) weight /= -std::expm1(-step_ * exponent_);
      double const seen = weight * std::exp(-rate);
      bool const falls = rate > 1 && seen < last_seen;
      if (!std::isfinite(weight) || rate > fastest ||
          (falls && seen < 1e-3 * accuracy_ * step_ * kernel(1)))
        break;
      last_seen = seen;
      lattice_.push_back({rate, weight});
    }
  }

  // The kernel on the lags where tails are compared.
  void find_scales(Kernel const& kernel) {
    auto const horizon = static_cast<std::int64_t>(horizon_);
    for (std::int64_t lag = horizon; lag > 12; lag -= (lag + 4) / 5) add_scale(kernel, lag);
    for (std::int64_t lag = std::min<std::int64_t>(horizon, 12); lag >= 1; --lag)
      add_scale(kernel, lag);
    sums_.assign(scales_.size(), 0.0);
    for (node const& n : lattice_)
      for (scale const& at : scales_)
        sums_.push_back(sums_[sums_.size() - scales_.size()] + n.weight * std::exp(-n.at * at.lag));
  }
  void add_scale(Kernel const& kernel, std::int64_t lag) {
    scales_.push_back({static_cast<double>(lag), kernel(lag)});
  }

  std::vector<node> rule_below(std::size_t end, std::size_t count) const {
    return gauss_rule({lattice_.begin(), lattice_.begin() + std::ptrdiff_t(end)}, count);
  }
  std::vector<node> rule_above(std::size_t start, std::size_t count) const {
    return rule_in_factors({lattice_.begin() + std::ptrdiff_t(start), lattice_.end()}, count);
  }

  // Whether the rule may replace the nodes from `begin` to `end`, judged on the lags of scales_.
  bool stands_for(std::size_t begin, std::size_t end, std::vector<node> const& rule) const {
    for (std::size_t i = 0; i < scales_.size(); ++i) {
      double apart = sums_[end * scales_.size() + i] - sums_[begin * scales_.size() + i];
      for (node const& n : rule) apart -= n.weight * std::exp(-n.at * scales_[i].lag);
      if (!(std::abs(apart) <= accuracy_ / 4 * scales_[i].value)) return false;
    }
    return true;
  }
  // The number of slowest nodes that `count` Gauss nodes can replace.
  std::size_t end_of_lower_tail(std::size_t count) const {
    std::size_t end = count;
    while (end < lattice_.size() && stands_for(0, end + 1, rule_below(end + 1, count))) ++end;
    return end;
  }
  // The first of the fastest nodes that `count` Gauss nodes can replace.
  std::size_t start_of_upper_tail(std::size_t count, std::size_t least) const {
    std::size_t start = std::max(lattice_.size() - count, least);
    while (start > least && stands_for(start - 1, lattice_.size(), rule_above(start - 1, count)))
      --start;
    return start;
  }

  struct scale {
    double lag, value;
  };
  double horizon_, accuracy_, exponent_, step_ = 0;
  std::vector<node> lattice_;
  std::vector<scale> scales_;
  std::vector<double> sums_;  // partial sums of the nodes, none to all, on every lag of scales_
};

}  // namespace wane::spectra::impl
