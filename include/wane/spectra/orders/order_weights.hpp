// order_weights: the weights c_s(alpha) of shared rates as piecewise cubics, for retention.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "wane/spectra/orders/order_table.hpp"
#include "wane/spectra/orders/shared_rates.hpp"

namespace wane::spectra {

//   wane::spectra::shared_rates const shared(16, 4096);     // 16 nodes for lags 1..4096
//   wane::spectra::order_weights<float> const weights(shared);
//   wane::retention<float> const memory({.value = v, .alpha = alpha}, weights.table());
//
// Between neighbours of 129 evenly spaced orders each weight is the cubic with the values and
// slopes of shared_rates at both ends. This adds no visible error to that of the least squares
// (OrderWeights.*). Takes about 5 ms.
template <class T>
class order_weights {
 public:
  static constexpr index pieces = 128;

  explicit order_weights(shared_rates const& shared)
      : nodes_(static_cast<index>(shared.rates().size())), least_(shared.least_alpha()) {
    for (double r : shared.rates()) log_decay_.push_back(static_cast<T>(-r));
    double const wide = (1 - least_) / static_cast<double>(pieces);
    auto from = of(shared, 0);
    for (index p = 0; p < pieces; ++p) {
      auto to = of(shared, p + 1);
      std::size_t const count = from.weights.size(), first = cubics_.size();
      cubics_.resize(first + 4 * count);
      for (std::size_t s = 0; s < count; ++s) {
        double const a = from.weights[s], rise = to.weights[s] - a;
        double const da = wide * from.slopes[s], db = wide * to.slopes[s];
        double const cubic[] = {a, da, 3 * rise - 2 * da - db, da + db - 2 * rise};
        for (std::size_t n = 0; n < 4; ++n)
          cubics_[first + n * count + s] = static_cast<T>(cubic[n]);
      }
      from = std::move(to);
    }
  }

  // A view; valid as long as this object.
  order_table<T> table() const& {
    return {static_cast<T>(least_),
            {log_decay_.data(), 1, 1, 1, nodes_},
            {cubics_.data(), pieces, 4, 1, nodes_ + 1}};
  }
  order_table<T> table() && = delete;

 private:
  // Weights and slopes of the nodes, and behind them d = 1 - sum_s c_s.
  shared_rates::weights_of_order of(shared_rates const& shared, index n) const {
    double const part = static_cast<double>(n) / static_cast<double>(pieces);
    auto found = shared.at(n == pieces ? 1 : least_ + part * (1 - least_));
    double direct = 1, slope = 0;
    for (double c : found.weights) direct -= c;
    for (double c : found.slopes) slope -= c;
    found.weights.push_back(direct), found.slopes.push_back(slope);
    return found;
  }

  index nodes_;
  double least_;
  std::vector<T> log_decay_, cubics_;
};

}  // namespace wane::spectra
