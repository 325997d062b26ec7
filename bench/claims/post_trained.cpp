// PoST's Figure 3 on a checkpoint: the taper that its decays imply, against the linear one.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/decay_layers.hpp"
#include "claims/claim.hpp"
#include "wane/spectra/rates/taper.hpp"

namespace wane::bench {
namespace {

// The taper of a layer at a share of its channels, 0 the slowest and 1 the fastest.
class taper_curve {
 public:
  taper_curve(decay_layer const& layer, std::int64_t trained_on) {
    std::vector<double> log_rates;
    for (double const rate : layer.rates) log_rates.push_back(std::log(rate));
    std::sort(log_rates.begin(), log_rates.end());
    values_ =
        spectra::adaptive_taper(log_rates, std::log(static_cast<double>(trained_on))).values();
  }

  double operator()(double share) const {
    double const at = share * static_cast<double>(values_.size() - 1);
    auto const below = std::min(static_cast<std::size_t>(at), values_.size() - 2);
    double const part = at - static_cast<double>(below);
    return (1 - part) * values_[below] + part * values_[below + 1];
  }

 private:
  std::vector<double> values_;
};

// Averaged over the layers, as the figure is.
finding measured(std::vector<decay_layer> const& layers, std::int64_t trained_on) {
  constexpr double near = 0.1;
  std::vector<taper_curve> curves;
  for (auto const& layer : layers)
    if (layer.rates.size() >= 3) curves.emplace_back(layer, trained_on);
  double largest = 0, where = 0;
  for (int percent = 0; percent <= 100; ++percent) {
    double const share = percent / 100.0;
    double mean = 0;
    for (auto const& curve : curves) mean += curve(share) / static_cast<double>(curves.size());
    double const apart = std::abs(mean - (1 - share));
    if (apart > largest) largest = apart, where = share;
  }
  return {largest, !curves.empty() && largest <= near, false,
          "over " + std::to_string(curves.size()) + " layers, each sorted, most at the share " +
              std::to_string(where).substr(0, 4) + " of its channels; within 0.1 counts as near"};
}

}  // namespace

std::vector<claim> post_trained_claims(std::vector<decay_layer> const& layers,
                                       std::int64_t trained_on) {
  return {
      {"post-figure-3", "PoST Figure 3",
       "distance of a trained model's mean taper from the linear one (drawn as near, no number)", 0,
       [=] { return measured(layers, trained_on); }}};
}

}  // namespace wane::bench
