// recalibration: carries a state from the shared rates of one horizon to those of another.
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wane/core/state/state.hpp"
#include "wane/spectra/fit/lags.hpp"
#include "wane/spectra/orders/gruenwald_letnikov.hpp"
#include "wane/spectra/orders/shared_rates.hpp"

namespace wane::spectra {

//   wane::spectra::recalibration const longer(shared, shared_of_longer_horizon);
//   longer.carry<float>(old_state, new_state);
//
// M' = P M, such that on lags l = 1..T' the new memory reads what the old one would have:
//   sum_s' P_{s',s} e^{-r'_s' l} ~ e^{-r_s l},   for each rate r_s in least squares.
// Tokens written later fade by their power law up to T'. Tokens already in the state do so up to
// the old T only; beyond it they fade as the old exponentials, because the state does not hold
// their orders.
class recalibration {
 public:
  // Takes about 10 ms.
  recalibration(shared_rates const& from, shared_rates const& to) {
    auto const lags = log_spaced_lags(to.horizon(), 20, 120);
    matrix const read_new = read_outs(to.rates(), lags);
    map_ = read_new.colPivHouseholderQr().solve(read_outs(from.rates(), lags));
    measure(from, to);
  }

  // P, from [S] old nodes to [S'] new ones.
  double operator()(index to, index from) const { return map_(to, from); }

  // The largest relative error of a token against its power law when it is read, over all orders
  // and ages 0..T when it is carried: `within` the shorter of both horizons, and `beyond`, up to
  // the longer. Sampled evenly in the order and in the logarithm of age and lag.
  struct error {
    double within = 0, beyond = 0;
  };
  error const& errors() const { return errors_; }

  // Carries a state: `from` is [N, H, S F, V] and `to`, other memory, [N, H, S' F, V], where F is
  // the number of rows for each node (1 in retention). Copies positions. Throws wane::error when
  // the shapes do not fit.
  template <class T>
  void carry(state_view<T const> from, state_view<T> to) const {
    auto const& old = from.values.extent;
    auto const& now = to.values.extent;
    require((from.present() && to.present()) ||
                (wane::impl::of_no_sequences(from) && wane::impl::of_no_sequences(to)),
            "a state has no data; recalibration carries one state into another");
    require(old[2] % map_.cols() == 0, "from has rows ", old[2], "; they must be ", map_.cols(),
            ", as many as its rates, or a multiple of that");
    index const each = old[2] / map_.cols();
    wane::impl::check_state("to", to, old[0], {old[0], 0, old[1], map_.rows() * each, old[3]});
    for (index n = 0; n < now[0]; ++n) {
      if (from.positions && to.positions) to.positions[n] = from.positions[n];
      for (index h = 0; h < now[1]; ++h)
        for (index i = 0; i < now[2]; ++i)
          for (index j = 0; j < now[3]; ++j) {
            double sum = 0;
            for (index s = 0; s < map_.cols(); ++s)
              sum += map_(i / each, s) *
                     static_cast<double>(from.values(n, h, s * each + i % each, j));
            to.values(n, h, i, j) = static_cast<T>(sum);
          }
    }
  }

 private:
  using matrix = Eigen::MatrixXd;

  // e^{-r l}, lags by rates.
  static matrix read_outs(std::vector<double> const& rates, std::vector<std::int64_t> const& lags) {
    matrix of(lags.size(), rates.size());
    for (std::size_t l = 0; l < lags.size(); ++l)
      for (std::size_t s = 0; s < rates.size(); ++s)
        of(static_cast<Eigen::Index>(l), static_cast<Eigen::Index>(s)) =
            std::exp(-rates[s] * static_cast<double>(lags[l]));
    return of;
  }

  void measure(shared_rates const& from, shared_rates const& to) {
    std::vector<std::int64_t> ages = log_spaced_lags(from.horizon(), 8, 40);
    ages.insert(ages.begin(), 0);
    std::vector<std::int64_t> const lags = log_spaced_lags(to.horizon(), 8, 40);
    auto const [shorter, longer] = std::minmax({from.horizon(), to.horizon()});
    // The value read of a token with weights c, lags by ages: carried diag(c) aged.
    matrix const carried = read_outs(to.rates(), lags) * map_;
    matrix const aged = read_outs(from.rates(), ages).transpose();
    constexpr int orders = 37;
    for (int k = 0; k < orders; ++k) {
      double const part = static_cast<double>(k) / (orders - 1), least = from.least_alpha();
      gruenwald_letnikov const kernel(std::min(1.0, least + part * (1 - least)));
      std::vector<double> const c = from.at(kernel.alpha()).weights;
      Eigen::Map<Eigen::VectorXd const> const weights(c.data(), aged.rows());
      matrix const read = carried * weights.asDiagonal() * aged;
      for (std::size_t l = 0; l < lags.size(); ++l)
        for (std::size_t a = 0; a < ages.size(); ++a) {
          std::int64_t const old = ages[a] + lags[l];
          if (old > longer) continue;
          double const value =
              read(static_cast<Eigen::Index>(l), static_cast<Eigen::Index>(a)) / kernel(old) - 1;
          errors_.beyond = std::max(errors_.beyond, std::abs(value));
          if (old <= shorter) errors_.within = std::max(errors_.within, std::abs(value));
        }
    }
  }

  matrix map_;  // P
  error errors_;
};

}  // namespace wane::spectra
